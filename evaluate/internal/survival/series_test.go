package survival

import (
	"math"
	"testing"
)

// The noise of numbers at risk is that of their derivatives, with running sums or without, and with
// them that of late ones is less than half of what it is without.
func TestNoiseOfNumbersAtRisk(t *testing.T) {
	for _, causes := range []int{1, 2} {
		q := flatQuestion(1, 20, causes, 3, false)
		var plain []float64
		for _, sums := range []bool{false, true} {
			q.Sums = sums
			risks := q.riskSDs()
			for j, got := range risks {
				later := make([]float64, q.Cells())
				for k := q.Exit(0, 0, j, 0); k < len(later); k++ {
					later[k] = 1
				}
				square := 0.0
				for _, g := range q.spreading()(later) {
					square += g * g
				}
				if want := 3 * math.Sqrt(square); math.Abs(got-want) > 1e-9 {
					t.Errorf("running sums %v, bin %d: %v; want %v", sums, j, got, want)
				}
			}
			if sums && risks[0] > plain[0]*0.8 {
				t.Errorf("numbers at risk have noise of %v with running sums, %v without", risks[0], plain[0])
			}
			plain = risks
		}
	}
}
