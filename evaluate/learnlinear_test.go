package evaluate_test

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/rl/feature"
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

// A rule is known after the charge, and some rows overflow its scores: their episodes are left out, and nothing fails.
func TestRowsThatOverflowALearnedRuleAreMissingMass(t *testing.T) {
	w := trialWorlds()[4]
	p := w.public(500, 0.1, dp.ReplaceOne)
	ranges := slices.Repeat([]feature.Range{{Low: 0, High: 1e-6}}, w.covariates) // narrow ones make large weights
	p.Features = must(feature.NewColumns(w.names(), ranges, feature.ColumnsOptions{}))
	for seed := range uint64(4) {
		d := w.draw(500, seed)
		for i := range 100 * len(d.Columns) {
			d.Obs[i] = math.MaxFloat64
		}
		_, r := released(t, w.learner(), p, d, seed)
		f := r.Learned.Policy
		overflows := false
		for a, weights := range f.Weights {
			score := f.Intercept[a]
			for _, c := range weights {
				score += c * math.MaxFloat64
			}
			overflows = overflows || math.IsInf(score, 0) || math.IsNaN(score)
		}
		if !overflows {
			t.Errorf("seed %d: no score overflows by %v", seed, f.Weights)
		}
	}
}
