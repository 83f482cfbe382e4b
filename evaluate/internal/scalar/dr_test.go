package scalar

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// advancingSample is the chain off-policy, two episodes a person.
func advancingSample(t *testing.T, persons int, seed uint64) *value.Sample {
	t.Helper()
	d, err := chain.Simulate(chain.Options{Episodes: 2 * persons, EpisodesPerPerson: 2, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	target, err := policy.NewTable(chain.Policy(0.6), chain.Actions, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	tabular, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	s, err := value.NewSample(d, value.Options{Gamma: 0.99, Features: tabular, Policy: target})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestContributionsEqualTheReference holds the recursions against
// value.DRContributions: by state with every action at the state's value, and by
// action on one-row episodes.
func TestContributionsEqualTheReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := advancingSample(t, 50, 3)
	g := &Guess{Overall: 0.3, State: make([]float64, chain.States)}
	table := value.StateActionValues{K: chain.Actions}
	for i := range g.State {
		g.State[i] = rng.Float64()
		table.Values = append(table.Values, g.State[i], g.State[i])
	}
	compareDR(t, s, g, table)
	compareDR(t, s, &Guess{Overall: 0.7}, value.ActionValues{0.7, 0.7})

	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	for i := range 60 {
		d.Action = append(d.Action, int32(rng.IntN(3)))
		d.BehaviorProb = append(d.BehaviorProb, 0.2+0.5*rng.Float64())
		d.Reward = append(d.Reward, rng.Float64())
		d.Terminated = append(d.Terminated, true)
		d.EpisodeStart = append(d.EpisodeStart, i+1)
		if i%3 == 2 {
			d.PersonStart = append(d.PersonStart, i+1)
		}
	}
	uniform, err := policy.NewUniform(3)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = value.NewSample(d, value.Options{Gamma: 1, Policy: uniform}); err != nil {
		t.Fatal(err)
	}
	q := value.ActionValues{0.1, 0.5, 0.9}
	compareDR(t, s, &Guess{Action: q}, q)
}

func compareDR(t *testing.T, s *value.Sample, g *Guess, q value.QModel) {
	t.Helper()
	got, want := make([]float64, s.Data.Persons()), make([]float64, s.Data.Persons())
	if err := g.contributions(got, s); err != nil {
		t.Fatal(err)
	}
	if err := value.DRContributions(want, s, q); err != nil {
		t.Fatal(err)
	}
	for p := range got {
		if math.Abs(got[p]-want[p]) > 1e-9*(1+math.Abs(want[p])) {
			t.Fatalf("person %d adds %v; the reference says %v", p, got[p], want[p])
		}
	}
}

// TestAnyBaselineLeavesTheMeanWhereItIs checks unbiasedness on 20000 episodes of
// the chain, whose true value is known: with a good baseline and with a useless
// one the mean lies within five standard errors of it.
func TestAnyBaselineLeavesTheMeanWhereItIs(t *testing.T) {
	s := advancingSample(t, 10000, 4)
	exact := chain.Values(0.6, 0.99)
	truth := 0.0
	for _, v := range exact {
		truth += v / chain.States
	}
	spread := map[string]float64{}
	for name, g := range map[string]*Guess{
		"exact":   {State: exact},
		"useless": {Overall: 0.2},
	} {
		x := make([]float64, s.Data.Persons())
		g.contributions(x, s)
		mean, sd := stat.MeanStdDev(x, nil)
		spread[name] = sd / math.Sqrt(float64(len(x)))
		if math.Abs(mean-truth) > 5*spread[name] {
			t.Errorf("%s: mean %v, truth %v, standard error %v", name, mean, truth, spread[name])
		}
	}
	if spread["exact"] > spread["useless"]/2 {
		t.Errorf("the exact baseline leaves a standard error of %v, a useless one of %v", spread["exact"], spread["useless"])
	}
}

// TestPersonsVectorStaysInsideItsNorm draws episodes with any ratios and returns
// and wants what a person adds to a baseline by state to keep the norm that its
// sum clips to: there is nothing for the clip to cut.
func TestPersonsVectorStaysInsideItsNorm(t *testing.T) {
	tabular, err := feature.NewTabular(5, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
		for range rapid.IntRange(1, 4).Draw(t, "episodes") {
			for range rapid.IntRange(1, 6).Draw(t, "rows") {
				d.Obs = append(d.Obs, float64(rapid.IntRange(-1, 4).Draw(t, "state")))
				d.Reward = append(d.Reward, rapid.Float64Range(-3, 3).Draw(t, "reward"))
				d.TargetProb = append(d.TargetProb, rapid.Float64Range(0, 1).Draw(t, "target"))
				d.BehaviorProb = append(d.BehaviorProb, rapid.Float64Range(0.01, 1).Draw(t, "behaviour"))
			}
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			d.Terminated = append(d.Terminated, true)
		}
		d.PersonStart = append(d.PersonStart, len(d.Terminated))
		s, err := value.NewSample(d, value.Options{Gamma: 0.9, Features: tabular, Policy: policy.ProbColumn{}})
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, 12)
		newWalker(s, facts.Range{Min: -1, Max: 2}, s.States).states(x, 0)
		square := 0.0
		for _, v := range x {
			square += v * v
		}
		if limit := 2 * (1 + height*height); square > limit*(1+1e-12) {
			t.Fatalf("a person adds a vector of squared norm %v; want at most %v", square, limit)
		}
	})
}

// TestWalkerSeesFirstVisits spells one person out by hand.
func TestWalkerSeesFirstVisits(t *testing.T) {
	tabular, err := feature.NewTabular(2, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	d := &trajectory.Dataset{
		Columns: []string{"obs_state"}, Obs: []float64{0, 1, 0}, Reward: []float64{0, 1, 0.5},
		TargetProb: []float64{0.5, 0.25, 1}, BehaviorProb: []float64{1, 1, 0.5},
		PersonStart: []int{0, 1}, EpisodeStart: []int{0, 3}, Terminated: []bool{true},
	}
	s, err := value.NewSample(d, value.Options{Gamma: 0.5, Features: tabular, Policy: policy.ProbColumn{}})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 6)
	newWalker(s, facts.Range{Min: 0, Max: 2}, s.States).states(x, 0)
	// Ratios .5, .25, 2; returns .625, 1.25, .5; weights from each row on .25, .5, 1 (2 cut).
	root := math.Sqrt2
	want := []float64{0.25 * -0.375 / root, 0.7 * 0.25 / root, 0.5 * 0.25 / root, 0.7 * 0.5 / root, 0.25 * -0.375, 0.7 * 0.25}
	for i := range want {
		if math.Abs(x[i]-want[i]) > 1e-12 {
			t.Fatalf("person adds %v; want %v", x, want)
		}
	}
}

// TestPersonsVectorReachesItsNorm wants the norm to be tight: a person who visits
// every state with ratios of 1 and an extreme return has exactly it.
func TestPersonsVectorReachesItsNorm(t *testing.T) {
	tabular, err := feature.NewTabular(5, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	d := &trajectory.Dataset{
		Columns: []string{"obs_state"}, Obs: []float64{0, 1, 2, 3, 4}, Reward: []float64{9, 9, 9, 9, 9},
		PersonStart: []int{0, 1}, EpisodeStart: []int{0, 5}, Terminated: []bool{true},
	}
	s, err := value.NewSample(d, value.Options{Gamma: 0.9, Features: tabular, Policy: policy.Logged{}})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 12)
	newWalker(s, facts.Range{Min: -1, Max: 2}, s.States).states(x, 0)
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	if want := 2 * (1 + height*height); math.Abs(square-want) > 1e-12 {
		t.Errorf("squared norm %v; want %v", square, want)
	}
}
