package simulate_test

import (
	"testing"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// sides is a run of antithetic one-bit evolution with so many episodes on either side.
func sides(seed uint64, epsilon float64, episodes int, submissions uint64) simulate.Config {
	c := ours(seed, train.OneBit, epsilon, submissions)
	c.Terms.Randomizer.Clip = 1
	c.Local.Method, c.Local.Episodes, c.Local.Perturbation, c.Local.PolicyGradient = device.Antithetic, episodes, .5, learn.PolicyGradient{}
	return c
}

// TestAntitheticPairsLearn: the policy without a perturbation balances most of the time, where the initial
// one falls at once; and every agent spent what one report costs.
func TestAntitheticPairsLearn(t *testing.T) {
	c := sides(3, 2, 1, 1500)
	r := run(t, c)
	scores, err := simulate.Scores(t.Context(), c, r.Theta, 200, learn.Explore{}, 7)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for _, s := range scores {
		mean += s / float64(len(scores))
	}
	if mean < 120 || r.Epsilon != 2 {
		t.Errorf("mean score %v at epsilon %v; want 120 at least, at 2", mean, r.Epsilon)
	}
}
