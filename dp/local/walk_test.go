package local

import (
	"math"
	"testing"
)

// loss is the largest log ratio of the probabilities of a report between any two
// of the laws; it is infinite if a report is possible under one and not the other.
func loss(laws []map[string]float64) float64 {
	worst := 0.0
	for _, a := range laws {
		for _, b := range laws {
			for report, p := range a {
				worst = max(worst, math.Log(p/b[report]))
			}
		}
	}
	return worst
}

// checkLaws asserts that the laws add up to 1 and that the privacy loss between
// them is at most epsilon, and at least tight times epsilon: a bound that no input
// attains would mean that the wrong thing is enumerated.
func checkLaws(t *testing.T, name string, laws []map[string]float64, epsilon, tight float64) {
	t.Helper()
	for i, l := range laws {
		sum := 0.0
		for _, p := range l {
			sum += p
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: probabilities of input %d add up to %v", name, i, sum)
		}
	}
	got := loss(laws)
	if !(got <= epsilon*(1+1e-12)+1e-12) || got < tight*epsilon {
		t.Errorf("%s: privacy loss %v; want at most epsilon = %v, and at least %v", name, got, epsilon, tight*epsilon)
	}
}

// mean is the expectation of a vector randomiser's estimate under a law.
func mean(t *testing.T, r Vector, l map[string]float64) []float64 {
	t.Helper()
	sum, one := make([]float64, r.Dim()), make([]float64, r.Dim())
	for report, p := range l {
		if err := r.Estimate(one, []byte(report)); err != nil {
			t.Fatal(err)
		}
		for i := range sum {
			sum[i] += p * one[i]
		}
	}
	return sum
}

func near(a, b []float64, tolerance float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= tolerance) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestEnumerationSeesWhatIsWrong runs the check on mechanisms that are not
// private: a budget spent twice, and an input that switches the noise off.
func TestEnumerationSeesWhatIsWrong(t *testing.T) {
	bit := func(lie uint64) func(truth bool) map[string]float64 {
		return func(truth bool) map[string]float64 {
			return law(func(c coins) []byte {
				if truth != c.below(lie) {
					return []byte{1}
				}
				return []byte{0}
			})
		}
	}
	right, twice := bit(lieThreshold(1, 1)), bit(lieThreshold(2, 1))
	if got := loss([]map[string]float64{right(true), right(false)}); math.Abs(got-1) > 1e-12 {
		t.Errorf("loss of randomised response with epsilon 1 is %v", got)
	}
	if got := loss([]map[string]float64{twice(true), twice(false)}); got < 1.99 {
		t.Errorf("loss with epsilon 2 is %v", got)
	}
	nan := law(func(coins) []byte { return []byte{0} })
	if got := loss([]map[string]float64{right(true), nan}); !math.IsInf(got, 1) && got < 1 {
		t.Errorf("loss with an input that is not randomised is %v", got)
	}
}
