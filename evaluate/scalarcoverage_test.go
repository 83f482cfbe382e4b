package evaluate_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
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

// TestMeansOfRareOutcomesAreHeld wants 95% intervals of an on-policy mean to hold an outcome
// that the data often do not show, at either end of the range, where noise is far below
// one person; and a mean where the noise in the number of persons is as large as that
// number. Of 300 a true 95% holds fewer than 272 with probability below 1e-3, at fixed
// seeds always or never. The normal interval alone held 84 to 87% of them.
func TestMeansOfRareOutcomesAreHeld(t *testing.T) {
	const logs = 300
	src := noise.NewSeeded(11)
	for _, c := range []struct {
		persons        int
		rate, epsilon  float64
		ofRare, ofMany float64
	}{
		{200, 0.01, 20, 1, 0}, {200, 0.01, 20, 0, 1}, {50, 0.001, 0.1, 1, 0}, {50, 0.001, 0.1, 0, 1},
	} {
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			p := banditPublic(t, int64(c.persons), adjacency, policy.Logged{})
			p.Privacy.Budget.Epsilon = c.epsilon
			truth, held := c.rate*c.ofRare+(1-c.rate)*c.ofMany, 0
			rng, plan := rand.New(rand.NewPCG(1, 2)), must(evaluate.DPIS{}.Plan(p))
			for range logs {
				d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
				for i := range c.persons {
					reward := c.ofMany
					if rng.Float64() < c.rate {
						reward = c.ofRare
					}
					d.Reward = append(d.Reward, reward)
					d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, i+1), append(d.PersonStart, i+1)
				}
				if r := runOf(t, plan, d, src).Answers[0].Estimate; r.Interval[0] <= truth && truth <= r.Interval[1] {
					held++
				}
			}
			t.Logf("%+v, %v: %d of %d", c, adjacency, held, logs)
			if held < 272 {
				t.Errorf("%+v, %v: %d of %d intervals hold %v", c, adjacency, held, logs, truth)
			}
		}
	}
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
		{"dp-is on-policy, complete", evaluate.DPIS{}, false, on},
		{"dp-is on-policy, complete, auto clip", evaluate.DPIS{Clip: "auto"}, false, on},
		{"dp-dr on-policy", evaluate.DPDR{}, false, on},
		{"dp-dr on-policy, complete", evaluate.DPDR{}, false, on},
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
				p.Complete = strings.Contains(c.name, "complete")
			}
			if seed%2 == 1 {
				p.Privacy.Adjacency = dp.AddRemoveOne
			}
			r := run(t, c.estimator, p, d, src).Answers[0].Estimate
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
