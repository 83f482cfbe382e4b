package audit

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// Region is a set of outcomes in which a test answers, and how often it did in runs
// that had no part in its choice.
type Region struct {
	// Number says what the test computes of a release, and Threshold from where on
	// it answers.
	Number    string  `json:"number"`
	Threshold float64 `json:"threshold"`
	// Answering is the world, 0 or 1, in which the test should answer.
	Answering int `json:"answering"`
	// Hits are the answers in each world, out of Runs.
	Hits [2]int `json:"hits"`
	Runs [2]int `json:"runs"`
	// Power is a lower limit of the probability of an answer in the world Answering,
	// and Level an upper one in the other world. Both hold at once, but for the
	// false-alarm rate.
	Power float64 `json:"power"`
	Level float64 `json:"level"`
}

// limited fills in the limits; they fail together with probability alpha at most.
func (r Region) limited(alpha float64) Region {
	yes, no := r.Answering, 1-r.Answering
	r.Power = atLeast(r.Hits[yes], r.Runs[yes], alpha/2)
	r.Level = atMost(r.Hits[no], r.Runs[no], alpha/2)
	return r
}

// Mu is the smallest mu of Gaussian differential privacy that the limits allow,
// rounded down.
func (r Region) Mu() float64 {
	if !(r.Power > max(r.Level, 0) && r.Level < 1) {
		return 0
	}
	mu := xmath.NormQuantile(r.Power) - xmath.NormQuantile(r.Level)
	return max(0, mu-1e-12*(1+math.Abs(mu)))
}

// Epsilon is the smallest epsilon at delta that the limits allow, rounded down; 0
// where they allow any.
func (r Region) Epsilon(delta float64) float64 {
	answers := ratioOf(r.Power-delta, r.Level)
	silent := ratioOf(1-r.Level-delta, 1-r.Power)
	return max(0, answers, silent)
}

// ratioOf is the logarithm of a/b, rounded down, -Inf where a is not positive.
func ratioOf(a, b float64) float64 {
	if !(a > 0 && b > 0) {
		return math.Inf(-1)
	}
	return xmath.Down(math.Log(xmath.DivDown(a, b)), 4)
}

// Excess is by how much the region's probabilities exceed what (epsilon, delta)
// allows; positive where they refute it.
func (r Region) Excess(epsilon, delta float64) float64 {
	e := xmath.Up(math.Exp(epsilon), 4)
	return max(r.Power-xmath.MulUp(e, r.Level), (1-r.Level)-xmath.MulUp(e, 1-r.Power)) - delta
}
