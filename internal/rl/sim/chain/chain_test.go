package chain_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/google/go-cmp/cmp"
)

// From the definition, worked by hand for p = 1/2 and gamma = .99:
// V(39) = .5/.505 = 100/101, and each step back multiplies by .495/.505 = 99/101.
func TestValuesMatchTheRecursionWorkedByHand(t *testing.T) {
	v := chain.Values(0.5, 0.99)
	for s, got := range v {
		want := 100.0 / 101 * math.Pow(99.0/101, float64(39-s))
		if !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("V(%d) = %v, want %v", s, got, want)
		}
	}
}

func TestValuesMatchDynamicProgramming(t *testing.T) {
	for _, gamma := range []float64{0, 0.5, 0.99, 1} {
		for _, advance := range []float64{0.05, 0.5, 0.6, 1} {
			got, err := chain.MDP(gamma, nil).Values(chain.Policy(advance))
			if err != nil {
				t.Fatal(err)
			}
			for s, want := range chain.Values(advance, gamma) {
				if !(math.Abs(got[s]-want) <= 1e-11) {
					t.Errorf("gamma %v, advance %v: V(%d) = %v, want %v", gamma, advance, s, got[s], want)
				}
			}
		}
	}
}

func simulate(t testing.TB, o chain.Options) *trajectory.Dataset {
	t.Helper()
	d, err := chain.Simulate(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryStepFollowsTheRules(t *testing.T) {
	for _, o := range []chain.Options{
		{Episodes: 700, Seed: 1},
		{Episodes: 700, Seed: 2, Advance: 0.9, Start: chain.At(39)},
		{Episodes: 700, Seed: 3, Advance: 0.3, MaxSteps: 25, EpisodesPerPerson: 3},
		{Episodes: 300, Seed: 4, Advance: 1, Start: chain.At(0)},
		{Episodes: 10, Seed: 5, Advance: 1e-9, MaxSteps: 7},
	} {
		d := simulate(t, o)
		if d.Episodes() != o.Episodes || d.PersonStart[d.Persons()] != o.Episodes {
			t.Fatalf("%+v: %d episodes, persons own %d", o, d.Episodes(), d.PersonStart[d.Persons()])
		}
		for e := range d.Episodes() {
			checkEpisode(t, o, d, e)
		}
	}
}

func checkEpisode(t *testing.T, o chain.Options, d *trajectory.Dataset, e int) {
	t.Helper()
	advance := o.Advance
	if advance == 0 {
		advance = 0.5
	}
	lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
	if d.FirstRow[e] != lo+1 || d.Origin[e] != "chain" {
		t.Errorf("%+v: episode %d is said to begin in row %d of %q", o, e, d.FirstRow[e], d.Origin[e])
	}
	if hi <= lo {
		t.Fatalf("%+v: episode %d has no row", o, e)
	}
	if o.MaxSteps > 0 && hi-lo > o.MaxSteps {
		t.Errorf("%+v: episode %d has %d steps", o, e, hi-lo)
	}
	state := d.Observation(lo)[0]
	if state < 0 || state > 39 || state != math.Trunc(state) {
		t.Fatalf("%+v: episode %d starts at %v", o, e, state)
	}
	for row := lo; row < hi; row++ {
		if got := d.Observation(row)[0]; got != state {
			t.Fatalf("%+v: row %d is at %v, want %v", o, row, got, state)
		}
		prob, reward := 1-advance, 0.0
		if d.Action[row] == 1 {
			prob = advance
			if state == 39 {
				reward = 1
			}
			state++
		}
		if d.BehaviorProb[row] != prob || d.Reward[row] != reward {
			t.Fatalf("%+v: row %d: probability %v, reward %v; want %v, %v", o, row, d.BehaviorProb[row], d.Reward[row], prob, reward)
		}
	}
	switch final := d.FinalObservation(e); {
	case d.Terminated[e] != (state == 40):
		t.Errorf("%+v: episode %d ends at %v, terminated %v", o, e, state, d.Terminated[e])
	case !d.Terminated[e] && (final == nil || final[0] != state || hi-lo != o.MaxSteps):
		t.Errorf("%+v: episode %d truncated at %v after %d steps, final observation %v", o, e, state, hi-lo, final)
	}
}

func TestDataDependOnTheSeedAlone(t *testing.T) {
	o := chain.Options{Episodes: 1500, Seed: 7, MaxSteps: 60, Workers: 1}
	one := simulate(t, o)
	o.Workers = 5
	five := simulate(t, o)
	if d := cmp.Diff(one, five); d != "" {
		t.Errorf("one worker and five differ:\n%.500s", d)
	}
	o.Episodes = 999
	shorter := simulate(t, o)
	n := shorter.Rows()
	if !slices.Equal(one.Action[:n], shorter.Action) || !slices.Equal(one.EpisodeStart[:1000], shorter.EpisodeStart) {
		t.Error("the first episodes of 1500 are not those of 999")
	}
	o.Seed = 8
	if other := simulate(t, o); slices.Equal(other.EpisodeStart, shorter.EpisodeStart) {
		t.Error("seeds 7 and 8 give the same lengths")
	}
}

// The mean episode length from a uniform start is 20.5 advances of mean
// 1/p steps, and the share of advances is p. Both are sums of bounded or
// geometric terms; at 5.5 standard errors a correct simulator fails one seed in
// 2.6e7, and the seed is fixed.
func TestLengthsAndActionsHaveTheirMeans(t *testing.T) {
	const episodes = 200_000
	for _, p := range []float64{0.5, 0.6} {
		d := simulate(t, chain.Options{Episodes: episodes, Seed: 11, Advance: p})
		// Var(length) = E[advances] (1-p)/p^2 + Var(advances)/p^2, advances uniform
		// on 1..40.
		variance := 20.5*(1-p)/(p*p) + (40*40-1)/12.0/(p*p)
		mean := float64(d.Rows()) / episodes
		if z := (mean - 20.5/p) / math.Sqrt(variance/episodes); !(math.Abs(z) <= 5.5) {
			t.Errorf("p = %v: mean length %v, want %v (z = %.2f)", p, mean, 20.5/p, z)
		}
		starts := make([]float64, 40)
		for e := range episodes {
			starts[int(d.Observation(d.EpisodeStart[e])[0])]++
		}
		// Chi-squared with 39 degrees of freedom exceeds 110 with probability 1e-8.
		chi2 := 0.0
		for _, n := range starts {
			chi2 += (n - episodes/40) * (n - episodes/40) / (episodes / 40)
		}
		if !(chi2 <= 110) {
			t.Errorf("p = %v: start states are not uniform: chi-squared %v", p, chi2)
		}
	}
}

// Discounted returns from state 0 lie in [0, 1], so that by Hoeffding the mean
// of 150,000 leaves V(0) by more than .0082 with probability below 5e-9.
func TestReturnsFromStateZeroMatchTheExactValue(t *testing.T) {
	for _, p := range []float64{0.5, 0.8} {
		d := simulate(t, chain.Options{Episodes: 150_000, Seed: 3, Advance: p, Start: chain.At(0)})
		s, err := value.NewSample(d, value.Options{Gamma: 0.99})
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.IS(s)
		if err != nil {
			t.Fatal(err)
		}
		if want := chain.Values(p, 0.99)[0]; !(math.Abs(got-want) <= 0.0082) {
			t.Errorf("advance %v: mean return %v, want %v", p, got, want)
		}
	}
}

func TestDataSuitTheirFeaturesAndPolicies(t *testing.T) {
	d := simulate(t, chain.Options{Episodes: 300, Seed: 1, MaxSteps: 50})
	m, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	if err := feature.Check(m, d); err != nil {
		t.Error(err)
	}
	pi, err := policy.NewTable(chain.Policy(0.6), chain.Actions, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.Check(pi, d); err != nil {
		t.Error(err)
	}
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	for _, o := range []chain.Options{
		{},
		{Episodes: -1},
		{Episodes: 1, Advance: -0.1},
		{Episodes: 1, Advance: 1.1},
		{Episodes: 1, Advance: math.NaN()},
		{Episodes: 1, Advance: 1e-5},
		{Episodes: 1, MaxSteps: -1},
		{Episodes: 1, EpisodesPerPerson: -1},
		{Episodes: 1, Workers: -1},
		{Episodes: 1, Start: []float64{1}},
		{Episodes: 1, Start: make([]float64, 40)},
		{Episodes: 1, Start: append([]float64{-1, 2}, make([]float64, 38)...)},
	} {
		if _, err := chain.Simulate(o); !errors.Is(err, chain.ErrOptions) {
			t.Errorf("Simulate(%+v): %v; want ErrOptions", o, err)
		}
	}
}
