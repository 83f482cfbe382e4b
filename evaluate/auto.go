package evaluate

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Auto chooses an estimator from public facts alone, and its plan says why.
//
// With features it plans a value function by every private method that the
// problem allows and takes the one with the least expected error; where even
// that is no better than answering with the middle of the public range, it
// answers so and spends nothing. Without features it estimates the value of the
// policy: on-policy by the mean return (dp-is), off-policy by dp-pdis where rewards
// follow several decisions and bound the return, else by dp-wis. It does not choose
// dp-dr, which pays for a baseline and has the same interval.
//
// What it chose, with its parameters, is the method of the release.
type Auto struct {
	// MaxWeight is the public cap on importance weights that the chosen method is
	// given; 0 leaves it its default.
	MaxWeight float64 `json:"max_weight,omitempty"`
	// Guess is as in [DPIS], of the method that is chosen.
	Guess *WeightGuess `json:"guess,omitempty"`
}

// candidate is a method that Auto weighs, with the error it expects.
type candidate struct {
	name      string
	estimator Estimator
	expected  float64
	averages  bool // its plan expects the error of noise alone
}

// Plan implements [Estimator].
func (m Auto) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
	if err := p.suits("auto"); err != nil {
		return nil, err
	}
	if p.Features == nil {
		return m.scalar(p)
	}
	if m.Guess != nil {
		return nil, fmt.Errorf("%w: auto: guess applies only to a single value of the policy; remove guess or features", ErrMethod)
	}
	return m.function(p)
}

// scalar follows the shape of the problem.
func (m Auto) scalar(p Public) (*Plan, error) {
	why := "off-policy with one decision per episode, where self-normalised weights have the least variance"
	switch {
	case p.onPolicy():
		return DPIS{Guess: m.Guess}.Plan(p.because("on-policy every weight is 1, so the mean return is enough"))
	case p.decisions() > 1 && p.Return == nil:
		return DPPDIS{MaxWeight: m.MaxWeight, Guess: m.Guess}.Plan(p.because("off-policy with several decisions per episode, where weighting each reward separately leaves the least missing mass"))
	case p.decisions() > 1:
		why = "off-policy with a public range of returns, which a method that weights whole returns can use"
	}
	return DPWIS{MaxWeight: m.MaxWeight, Guess: m.Guess}.Plan(p.because(why))
}

// function compares expected errors.
func (m Auto) function(p Public) (*Plan, error) {
	all := m.candidates(p)
	constant := p.Returns().Width() / math.Sqrt(12) // of a value anywhere in the range
	best := -1
	var words []string
	var failures []error
	for i := range all {
		c := &all[i]
		plan, err := c.estimator.Plan(p)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if c.expected = plan.Expected.RMSE; !(c.expected > 0) {
			c.expected = math.Inf(1)
		}
		if c.averages {
			c.expected = math.Hypot(c.expected, sampled(p))
		}
		word := fmt.Sprintf("%.2g", c.expected)
		if math.IsInf(c.expected, 1) {
			word = "not predicted"
		}
		words = append(words, c.name+" "+word)
		if best < 0 || c.expected < all[best].expected {
			best = i
		}
	}
	if best < 0 {
		return nil, errors.Join(failures...)
	}
	words = append(words, fmt.Sprintf("and %.2g for answering with the middle of the public range, if the value may be anywhere in it", constant))
	why := fmt.Sprintf("by public facts the expected errors are %s", strings.Join(words, ", "))
	if !policy.OnPolicy(p.Target) {
		why += "; off-policy these errors include noise only, and no method here gives a value function with intervals"
	}
	if e := all[best].expected; e > constant && !math.IsInf(e, 1) {
		return Constant{}.Plan(p.because(why))
	}
	return all[best].estimator.Plan(p.because(why))
}

// sampled is the error that finitely many persons make in averages of returns by state, on
// the guesses of dp-refine: returns scatter about the value of their state by
// defaultSpread of the range, and shares of visitors are spread evenly.
func sampled(p Public) float64 {
	n := p.Features.Dim()
	most, sum := float64(min(int64(n), p.Horizon))/float64(n), 0.0
	for i := range n {
		sum += 1 / ((float64(i) + 0.5) / float64(n) * most)
	}
	return defaultSpread * p.Returns().Width() * math.Sqrt(sum/float64(n)/float64(p.Persons))
}

// candidates lists the private methods that fit, the preferred one
// first: it is taken where no error can be predicted.
func (m Auto) candidates(p Public) []candidate {
	out := []candidate{{name: "dp-refine", estimator: DPRefine{MaxWeight: m.MaxWeight}}}
	_, finite := p.Features.(feature.Finite)
	if !finite || !policy.OnPolicy(p.Target) {
		return out
	}
	if p.Episodes == 1 || p.Episodes == 0 {
		out = append(out, candidate{name: "dp-lsw", estimator: DPLSW{}, averages: true}, candidate{name: "dp-lsl", estimator: DPLSL{}, averages: true})
	}
	return out
}
