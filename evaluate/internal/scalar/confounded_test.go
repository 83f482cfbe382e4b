package scalar

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestConfoundedBoundsHoldTheValue computes expectations over all courses of two kinds
// of people, who look alike to the log: the odds of their decisions are off by up to a
// factor, for one person throughout, and they fare otherwise.
func TestConfoundedBoundsHoldTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProcess(t)
		factor := rapid.SampledFrom([]float64{1, 1.5, 4}).Draw(t, "factor")
		steps := StepwiseOf(facts.Public{Reward: facts.Range{Min: -1, Max: 1}, Horizon: int64(p.horizon), Gamma: p.gamma}, false)
		whole := Whole{Returns: steps.Range(), Reward: steps.Reward, Horizon: steps.Horizon, Gamma: p.gamma}
		low, high, worth := [2]float64{}, [2]float64{1, 1}, 0.0
		for range 2 {
			kind := p.confounded(t, factor)
			worth += kind.value(0, p.horizon) / 2
			d, chances := kind.courses()
			s, err := value.NewSample(d, value.Options{Gamma: p.gamma, Policy: policy.ProbColumn{}})
			if err != nil {
				t.Fatal(err)
			}
			Lower(s, factor, 0)
			x, z := make([]float64, len(chances)), make([]float64, len(chances))
			for i, each := range []func(){func() { steps.Contributions(x, z, s) }, func() { whole.Contributions(x, z, s) }} {
				each()
				for k, chance := range chances {
					low[i] += chance * x[k] / 2
					high[i] -= chance * z[k] / 2
				}
			}
		}
		at := (worth - steps.Range().Min) / steps.Range().Width()
		for i, name := range []string{"decision by decision", "whole"} {
			if at < low[i]-1e-9 || at > high[i]+1e-9 {
				t.Errorf("%s, factor %v: the value is at %v; want from %v to %v", name, factor, at, low[i], high[i])
			}
		}
	})
}

// TestConfoundingLowersByTheOdds: recorded .5 under odds of 1.5 may have been .6, so
// that a ratio of 2 may be 1/.6; what is sure to be taken stays.
func TestConfoundingLowersByTheOdds(t *testing.T) {
	d := &trajectory.Dataset{PersonStart: []int{0, 1}, EpisodeStart: []int{0, 2}, Reward: []float64{1, 1}, BehaviorProb: []float64{0.5, 1}, TargetProb: []float64{1, 0.7}}
	s, err := value.NewSample(d, value.Options{Gamma: 1, Policy: policy.ProbColumn{}})
	if err != nil {
		t.Fatal(err)
	}
	Lower(s, 1.5, 0)
	if math.Abs(s.Rho[0]-1/0.6) > 1e-15 || s.Rho[1] != 0.7 {
		t.Errorf("ratios %v; want 1.6667 and .7", s.Rho)
	}
}
