package scalar

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestRoundedWeightsStayBelowTheTrueOnes: whichever way the writer rounded, up, down or to the
// nearest, and whether the target is recorded too or known, products of lowered ratios are
// at most the true weights, for any factor of confounding beside it.
func TestRoundedWeightsStayBelowTheTrueOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]float64{.1, .01, .001}).Draw(t, "unit")
		round := rapid.SampledFrom([]func(float64) float64{math.Floor, math.Ceil, math.Round}).Draw(t, "round")
		factor := rapid.SampledFrom([]float64{1, 2}).Draw(t, "factor")
		recorded := rapid.Bool().Draw(t, "recorded")
		eta := unit
		if round(.5) == 1 && round(.4) == 0 { // to the nearest
			eta = unit / 2
		}
		n := rapid.IntRange(1, 6).Draw(t, "decisions")
		d := &trajectory.Dataset{PersonStart: []int{0, 1}, EpisodeStart: []int{0, n}, Reward: make([]float64, n), BehaviorProb: make([]float64, n), TargetProb: make([]float64, n)}
		truth, rho := make([]float64, n), make([]float64, n)
		weight := 1.0
		for i := range n {
			b, pi := rapid.Float64Range(1e-3, 1).Draw(t, "b"), rapid.Float64Range(0, 1).Draw(t, "pi")
			weight *= pi / b * (b + (1-b)/factor)
			truth[i] = weight
			d.BehaviorProb[i] = max(round(b/unit)*unit, 1e-9) // the reader keeps 0 out
			d.TargetProb[i] = pi
			if recorded {
				d.TargetProb[i] = round(pi/unit) * unit
			}
			rho[i] = d.TargetProb[i] / d.BehaviorProb[i]
		}
		var of policy.Policy = policy.ProbColumn{}
		if !recorded {
			of, _ = policy.NewUniform(2) // known, whatever it is
		}
		s, err := value.NewSample(d, value.Options{Gamma: 1, Policy: of, Ratios: rho})
		if err != nil {
			t.Fatal(err)
		}
		Lower(s, factor, eta*(1+1e-12)) // units are no binary fractions
		product := 1.0
		for i := range n {
			if product *= s.Rho[i]; !(product >= 0 && product <= truth[i]*(1+1e-9)) {
				t.Fatalf("decision %d: weight %v, and the true one is %v", i, product, truth[i])
			}
		}
	})
}

// TestPrecisionLowersTheRatio: .33 to within a hundredth may be .34, and 1 is the most that a
// probability can be.
func TestPrecisionLowersTheRatio(t *testing.T) {
	d := &trajectory.Dataset{PersonStart: []int{0, 1}, EpisodeStart: []int{0, 3}, Reward: []float64{1, 1, 1}, BehaviorProb: []float64{.33, 1, .5}, TargetProb: []float64{1, .7, .004}}
	s, err := value.NewSample(d, value.Options{Gamma: 1, Policy: policy.ProbColumn{}})
	if err != nil {
		t.Fatal(err)
	}
	Lower(s, 1, .01)
	for i, want := range []float64{.99 / .34, .69, 0} {
		if math.Abs(s.Rho[i]-want) > 1e-12 {
			t.Errorf("ratio %d is %v; want %v", i, s.Rho[i], want)
		}
	}
}
