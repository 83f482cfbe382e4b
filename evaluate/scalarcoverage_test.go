package evaluate_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/policy"
)

// chainWorth is the exact value of the policy that advances with probability
// advance, from a uniform start.
func chainWorth(advance float64) float64 {
	sum := 0.0
	for _, v := range chain.Values(advance, 0.99) {
		sum += v / chain.States
	}
	return sum
}

// TestIntervalsCoverOnTheChain wants at least 93% of 95% intervals to hold the
// policy's true value, less three standard errors of the count, on trajectories
// whose weights have heavy tails.
func TestIntervalsCoverOnTheChain(t *testing.T) {
	n := datasets / 3
	if datasets > 100 {
		n = datasets
	}
	const persons = 1000
	on, off := chainWorth(0.5), chainWorth(0.6)
	exact := chain.Values(0.6, 0.99)
	cases := []struct {
		name      string
		estimator evaluate.Estimator
		offPolicy bool
		truth     float64
	}{
		{"dp-is on-policy", evaluate.DPIS{}, false, on},
		{"dp-is on-policy, auto clip", evaluate.DPIS{Clip: "auto"}, false, on},
		{"dp-dr on-policy", evaluate.DPDR{}, false, on},
		{"dp-is", evaluate.DPIS{Clip: "public"}, true, off},
		{"dp-is, auto clip", evaluate.DPIS{}, true, off},
		{"dp-wis", evaluate.DPWIS{}, true, off},
		{"dp-wis, auto clip", evaluate.DPWIS{Clip: "auto"}, true, off},
		{"dp-dr", evaluate.DPDR{}, true, off},
		{"dp-dr, one number", evaluate.DPDR{Baseline: "value"}, true, off},
		{"dp-dr, public values", evaluate.DPDR{StateValues: exact}, true, off},
	}
	covered, width := make([]int, len(cases)), make([]float64, len(cases))
	src := noise.NewSeeded(8)
	for seed := range n {
		d := chainData(t, persons, uint64(5000+seed))
		for i, c := range cases {
			p := chainOffPolicy(t, persons, 1)
			if !c.offPolicy {
				p.Target = policy.Logged{}
			}
			if seed%2 == 1 {
				p.Privacy.Adjacency = dp.AddRemoveOne
			}
			r := run(t, c.estimator, p, d, src).Estimate
			if r.Interval[0] <= c.truth && c.truth <= r.Interval[1] {
				covered[i]++
			}
			width[i] += (r.Interval[1] - r.Interval[0]) / float64(n)
		}
	}
	floor := 0.93 - 3*math.Sqrt(0.95*0.05/float64(n))
	for i, c := range cases {
		share := float64(covered[i]) / float64(n)
		t.Logf("%s: %.1f%% of %d intervals cover, mean width %.3f", c.name, 100*share, n, width[i])
		if share < floor {
			t.Errorf("%s: %.1f%% of %d intervals cover the truth; want at least %.1f%%", c.name, 100*share, n, 100*floor)
		}
	}
}
