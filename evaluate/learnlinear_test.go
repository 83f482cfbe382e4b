package evaluate_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
)

// Coefficients scatter from log to log by at most what their deviations say, and by no less than half of it; under an
// order, which moves them, none are told.
func TestCoefficientsScatterAsTheirDeviationsSay(t *testing.T) {
	w := trialWorlds()[4]
	for _, epsilon := range []float64{0.1, 50} {
		const logs = 60
		coefficients, told := make([][]float64, 5), make([]float64, 5)
		for log := range uint64(logs) {
			_, r := released(t, w.learner(), w.public(3000, epsilon, dp.ReplaceOne), w.draw(3000, log), log)
			f := r.Learned.Policy
			for i := range told {
				c := f.Intercept[1] - f.Intercept[0]
				if i > 0 {
					c = f.Weights[1][i-1] - f.Weights[0][i-1]
				}
				coefficients[i] = append(coefficients[i], c)
				told[i] += r.Learned.Deviations[i] / logs
			}
		}
		for i, of := range coefficients {
			mean, square := 0.0, 0.0
			for _, c := range of {
				mean += c / logs
			}
			for _, c := range of {
				square += (c - mean) * (c - mean) / (logs - 1)
			}
			// Of 60 normal numbers the standard deviation is within 40% of the true one but for a chance of 1e-5.
			if sd := math.Sqrt(square); sd > 1.4*told[i] || sd < 0.6*0.5*told[i] {
				t.Errorf("epsilon %v, coefficient %d: scatters by %.3g, told is %.3g", epsilon, i, sd, told[i])
			}
		}
	}
	m := w.learner()
	m.Monotone = map[string]string{"obs_a": "up"}
	if _, r := released(t, m, w.public(500, 1, dp.ReplaceOne), w.draw(500, 1), 1); r.Learned.Deviations != nil {
		t.Errorf("deviations of what an order moves: %v", r.Learned.Deviations)
	}
}
