package scalar

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestCutReturnsLieBetween: on-policy the return of the whole episode lies between what a
// record vouches for from below and from above, wherever and for whatever reason it was cut
// off. The range of returns may be narrower than what rewards allow.
func TestCutReturnsLieBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reward := facts.Range{Min: rapid.SampledFrom([]float64{-1, 0, 0.5}).Draw(t, "least"), Max: rapid.SampledFrom([]float64{-0.25, 1}).Draw(t, "most")}
		if reward.Max < reward.Min {
			reward.Max = reward.Min + 1
		}
		c := Whole{Reward: reward, Horizon: rapid.Int64Range(1, 6).Draw(t, "horizon"), Gamma: rapid.SampledFrom([]float64{1, 0.7}).Draw(t, "gamma")}
		if c.Discounts = rapid.Bool().Draw(t, "discounts"); c.Discounts {
			c.Gamma = 1
		}
		n := rapid.IntRange(1, int(c.Horizon)).Draw(t, "decisions")
		rewards := rapid.SliceOfN(rapid.Float64Range(reward.Min, reward.Max), n, n).Draw(t, "rewards")
		discounts := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "discount")
		full := record(rewards, discounts, n, true, c.Discounts)
		whole := sample(t, full, c.Gamma)
		g := whole.Return(0)
		c.Returns = facts.Range{Min: -2 * float64(c.Horizon), Max: 2 * float64(c.Horizon)}
		if rapid.Bool().Draw(t, "narrow") {
			c.Returns = facts.Range{Min: g - 0.5, Max: g + 0.25}
		}
		at := (g - c.Returns.Min) / c.Returns.Width()
		x, z := make([]float64, 1), make([]float64, 1)
		kept := rapid.IntRange(1, n).Draw(t, "kept")
		c.Contributions(x, z, sample(t, record(rewards, discounts, kept, false, c.Discounts), c.Gamma))
		if x[0] > at+1e-12 || 1-z[0] < at-1e-12 || x[0] < 0 || z[0] < 0 {
			t.Errorf("%d of %d decisions, then cut off: from %v to %v; the return is at %v", kept, n, x[0], 1-z[0], at)
		}
		c.Contributions(x, z, whole)
		if x[0] > at+1e-12 || 1-z[0] < at-1e-12 || x[0]+z[0] < 1-1e-12 {
			t.Errorf("an episode that ended: from %v to %v; the return is at %v, and nothing is missing", x[0], 1-z[0], at)
		}
	})
}

// TestLeftOutEpisodesAreMissing: of three episodes one was left out; two of three thirds
// are vouched for, whole or step by step.
func TestLeftOutEpisodesAreMissing(t *testing.T) {
	d := &trajectory.Dataset{PersonStart: []int{0, 2, 2}, LeftOut: []int{1, 1}, EpisodeStart: []int{0, 1, 2}, Terminated: []bool{true, true}, Reward: []float64{1, 0}}
	s, err := value.NewSample(d, value.Options{Gamma: 1})
	if err != nil {
		t.Fatal(err)
	}
	public := facts.Public{Reward: facts.Range{Max: 1}, Returns: facts.Range{Max: 1}, Horizon: 1, Gamma: 1}
	for name, each := range map[string]func(x, z []float64, s *value.Sample){"whole": WholeOf(public, false).Contributions, "step by step": StepwiseOf(public, false).Contributions} {
		x, z := make([]float64, 2), make([]float64, 2)
		each(x, z, s)
		if x[0] != 1.0/3 || z[0] != 1.0/3 || x[1] != 0 || z[1] != 0 {
			t.Errorf("%s: x %v, z %v; want a third of each for the first person and nothing of the second", name, x, z)
		}
	}
}

// TestCutOffPolicyEpisodesAreMissing: off-policy the weight of what would have followed is
// not known, so that the whole episode is missing.
func TestCutOffPolicyEpisodesAreMissing(t *testing.T) {
	d := record([]float64{1, 1}, []float64{1, 1}, 2, false, false)
	s := sample(t, d, 1)
	s.Rho = []float64{2, 1}
	c := Whole{Returns: facts.Range{Max: 3}, Reward: facts.Range{Max: 1}, Horizon: 3, Gamma: 1}
	x, z := make([]float64, 1), make([]float64, 1)
	if c.Contributions(x, z, s); x[0] != 0 || z[0] != 0 {
		t.Errorf("cut off after two of three decisions: x %v, z %v; want 0", x, z)
	}
	c.Horizon = 2
	if c.Contributions(x, z, s); x[0]+z[0] != 2 {
		t.Errorf("both of two decisions: x + z is %v; want its weight, 2", x[0]+z[0])
	}
}

// record is the record of one person, of the first decisions of an episode.
func record(rewards, discounts []float64, decisions int, ended, discounted bool) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0, 1}, EpisodeStart: []int{0, decisions}, Terminated: []bool{ended}, Reward: rewards[:decisions]}
	if discounted {
		d.Discount = discounts[:decisions]
	}
	return d
}

func sample(t interface {
	Helper()
	Fatal(...any)
}, d *trajectory.Dataset, gamma float64) *value.Sample {
	t.Helper()
	s, err := value.NewSample(d, value.Options{Gamma: gamma})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
