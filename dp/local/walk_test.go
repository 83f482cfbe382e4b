package local

import (
	"math"
	"testing"
)

// walk implements coins by going through every sequence of decisions once: each
// run of the randomiser takes one path of its decision tree, and weight is that
// path's probability. The law of a report is then known without sampling.
type walk struct {
	choice, size []int
	depth        int
	weight       float64
}

func (w *walk) decide(n int) int {
	if w.depth == len(w.choice) {
		w.choice, w.size = append(w.choice, 0), append(w.size, n)
	}
	c := w.choice[w.depth]
	w.depth++
	return c
}

func (w *walk) bernoulli(p float64) bool {
	if !(p >= 0 && p <= 1) {
		panic("not a probability")
	}
	if p == 0 || p == 1 {
		return p == 1
	}
	if w.decide(2) == 1 {
		w.weight *= p
		return true
	}
	w.weight *= 1 - p
	return false
}

func (w *walk) below(threshold uint64) bool { return w.bernoulli(lieProbability(threshold)) }

func (w *walk) uniform(n uint64) uint64 {
	w.weight /= float64(n)
	return uint64(w.decide(int(n)))
}

// law returns the probability of every report that run can make.
func law(run func(c coins) []byte) map[string]float64 {
	out := map[string]float64{}
	w := &walk{}
	for {
		w.depth, w.weight = 0, 1
		out[string(run(w))] += w.weight
		i := len(w.choice) - 1
		for i >= 0 && w.choice[i] == w.size[i]-1 {
			i--
		}
		if i < 0 {
			return out
		}
		w.choice, w.size = w.choice[:i+1], w.size[:i+1]
		w.choice[i]++
	}
}

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
