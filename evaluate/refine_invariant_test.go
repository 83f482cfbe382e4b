package evaluate

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/refine"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

var refineForms = []string{refine.MonteCarlo, refine.Regression, refine.LSTD}

func advancing(p float64) policy.Policy {
	return must(policy.NewTable(chain.Policy(p), chain.Actions, chain.Column))
}

// TestRefineDoesNotDependOnWorkersOrOrder: integer sums make the release the same
// to the last bit.
func TestRefineDoesNotDependOnWorkersOrOrder(t *testing.T) {
	const persons = 4200 // three chunks
	d := chainData(persons, 1)
	reversed := reverse(d)
	for _, target := range []policy.Policy{policy.Logged{}, advancing(0.6)} {
		for _, form := range refineForms {
			p := chainPublic(persons, 1, target)
			want := perform(t, DPRefine{Form: form, workers: 1}, p, d, noise.NewSeeded(7)).Theta
			if got := perform(t, DPRefine{Form: form, workers: 5}, p, d, noise.NewSeeded(7)).Theta; !slices.Equal(got, want) {
				t.Errorf("form %s: five workers release something else than one", form)
			}
			if got := perform(t, DPRefine{Form: form, workers: 2}, p, reversed, noise.NewSeeded(7)).Theta; !slices.Equal(got, want) {
				t.Errorf("form %s: two workers, or the order of persons, release something else", form)
			}
		}
	}
}

// reverse is d with its persons, one episode each, in the opposite order.
func reverse(d *trajectory.Dataset) *trajectory.Dataset {
	r := &trajectory.Dataset{Columns: d.Columns, PersonStart: d.PersonStart, EpisodeStart: []int{0}}
	for e := d.Episodes() - 1; e >= 0; e-- {
		lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
		r.Obs = append(r.Obs, d.Obs[lo:hi]...)
		r.Action = append(r.Action, d.Action[lo:hi]...)
		r.Reward = append(r.Reward, d.Reward[lo:hi]...)
		r.BehaviorProb = append(r.BehaviorProb, d.BehaviorProb[lo:hi]...)
		r.EpisodeStart = append(r.EpisodeStart, len(r.Reward))
		r.Terminated = append(r.Terminated, d.Terminated[e])
		r.HasFinal = append(r.HasFinal, d.HasFinal[e])
		r.Final = append(r.Final, d.Final[e])
	}
	return r
}

// TestRefineSurvivesHostileRecords: rewards that are no numbers, or huge, cannot
// make the release anything but finite and near where it was; and which kind of
// broken a record is does not show.
func TestRefineSurvivesHostileRecords(t *testing.T) {
	const persons = 1000
	for _, form := range refineForms {
		p := chainPublic(persons, 3, policy.Logged{})
		clean := perform(t, DPRefine{Form: form}, p, chainData(persons, 1), noise.NewSeeded(7)).Theta
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -1e300} {
			d := chainData(persons, 1)
			for row := d.EpisodeStart[3]; row < d.EpisodeStart[4]; row++ {
				d.Reward[row] = bad
			}
			got := perform(t, DPRefine{Form: form}, p, d, noise.NewSeeded(7)).Theta
			if x := rmseOf(got, clean); !(x < 0.02) {
				t.Errorf("form %s: a person with rewards %v moves the release by %v", form, bad, x)
			}
		}
	}
}

// TestRefineUnderAddRemoveOne: with the number of persons private and only half of
// them promised, the error stays what fewer persons would make.
func TestRefineUnderAddRemoveOne(t *testing.T) {
	const persons = 10000
	p := chainPublic(persons/2, 1, policy.Logged{})
	p.Privacy.Adjacency = dp.AddRemoveOne
	r := perform(t, DPRefine{}, p, chainData(persons, 1), noise.NewSeeded(1))
	if x := rmseOf(r.Values, chain.Values(0.5, 0.99)); !(x < 0.005) {
		t.Errorf("RMSE %v; want below 0.005", x)
	}
	visits := r.Diagnostics["persons_by_coordinate"].([]float64)
	if last := visits[chain.States-1]; math.Abs(last-persons) > persons/20 {
		t.Errorf("all %d persons visit the last state; the release says %v", persons, last)
	}
}

// TestRefineOffPolicyOnTheChain holds the error below measured values with room
// for chance (docs/results/estimators.md).
func TestRefineOffPolicyOnTheChain(t *testing.T) {
	for _, c := range []struct {
		persons       int64
		epsilon, most float64
	}{{1e3, 1, 0.03}, {1e4, 0.1, 0.03}, {1e4, 1, 0.012}} {
		mean, stderr := refineError(t, DPRefine{}, chainPublic(c.persons, c.epsilon, advancing(0.6)), 0.6, 2)
		t.Logf("persons %d, epsilon %g: RMSE %.5f +- %.5f", c.persons, c.epsilon, mean, stderr)
		if !(mean <= c.most) {
			t.Errorf("persons %d, epsilon %g: RMSE %.5f; want at most %v", c.persons, c.epsilon, mean, c.most)
		}
	}
}

// cosines are the features cos(pi i s/39), i = 0..n-1, of the chain.
type cosines struct{ n int }

func (c cosines) Dim() int                             { return c.n }
func (c cosines) Columns() []string                    { return []string{chain.Column} }
func (c cosines) NormBound() float64                   { return math.Sqrt(float64(c.n)) }
func (c cosines) Bind([]string) (feature.Bound, error) { return c, nil }
func (c cosines) Apply(dst, obs []float64) bool {
	for i := range dst {
		dst[i] = math.Cos(math.Pi * float64(i) * obs[0] / (chain.States - 1))
	}
	return true
}

// cosineError is the mean RMSE over states with n dense features.
func cosineError(t testing.TB, form string, n int, persons int64, epsilon float64, advance float64, trials int) float64 {
	t.Helper()
	p := chainPublic(persons, epsilon, advancing(advance))
	if advance == 0.5 {
		p.Target = policy.Logged{}
	}
	p.Features = cosines{n}
	truth := chain.Values(advance, p.Gamma)
	total := 0.0
	for trial := range trials {
		theta := perform(t, DPRefine{Form: form}, p, chainData(int(persons), 100+uint64(trial)), noise.NewSeeded(uint64(trial))).Theta
		values, phi := make([]float64, chain.States), make([]float64, n)
		for s := range values {
			p.Features.(cosines).Apply(phi, []float64{float64(s)})
			for i, x := range phi {
				values[s] += x * theta[i]
			}
		}
		total += rmseOf(values, truth)
	}
	return total / float64(trials)
}

// TestRefineWithDenseFeatures: four cosines come within 0.012 of the values at
// best.
func TestRefineWithDenseFeatures(t *testing.T) {
	for _, form := range []string{refine.Regression, refine.LSTD} {
		for _, advance := range []float64{0.5, 0.6} {
			got := cosineError(t, form, 4, 1e4, 1, advance, refineTrials/2)
			t.Logf("form %s, target %v: RMSE %.4f", form, advance, got)
			if !(got < 0.03) {
				t.Errorf("form %s, target %v: RMSE %v; want below 0.03", form, advance, got)
			}
		}
	}
}

// TestRefineShapes runs every form on small random problems: releases have the
// right length, are finite and in range.
func TestRefineShapes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		states := rapid.IntRange(1, 12).Draw(rt, "states")
		persons := rapid.IntRange(1, 20).Draw(rt, "persons")
		horizon := rapid.IntRange(1, 30).Draw(rt, "horizon")
		of := rapid.IntRange(1, min(3, states+1)).Draw(rt, "of")
		adjacency := rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(rt, "adjacency")
		d := line(persons, states, horizon, rapid.Uint64().Draw(rt, "seed"))
		features := must(feature.NewAggregation(states+1, of, chain.Column))
		p := chainPublic(int64(persons), 1, policy.Logged{})
		p.Horizon, p.Features = int64(horizon), features
		p.Privacy = &Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}}
		e := DPRefine{Form: rapid.SampledFrom(refineForms).Draw(rt, "form"), Rounds: rapid.IntRange(0, 4).Draw(rt, "rounds")}
		r := perform(t, e, p, d, noise.NewSeeded(rapid.Uint64().Draw(rt, "noise")))
		if len(r.Theta) != features.Dim() || len(r.Values) != states+1 {
			rt.Fatalf("%d weights and %d values; want %d and %d", len(r.Theta), len(r.Values), features.Dim(), states+1)
		}
		for _, v := range r.Values {
			if !(v >= 0 && v <= 1) {
				rt.Fatalf("value %v outside the public range", v)
			}
		}
	})
}

func TestRefineRefusals(t *testing.T) {
	p := chainPublic(1000, 1, policy.Logged{})
	for name, e := range map[string]DPRefine{
		"unknown form":     {Form: "other"},
		"too many rounds":  {Rounds: 21},
		"negative rounds":  {Rounds: -1},
		"NaN cap":          {MaxWeight: math.NaN()},
		"spread above 1":   {Spread: 2},
		"deviation is NaN": {Deviation: math.NaN()},
	} {
		if _, err := e.Plan(p); !errors.Is(err, ErrMethod) {
			t.Errorf("%s: %v; want ErrMethod", name, err)
		}
	}
	p.Features = cosines{4}
	if _, err := (DPRefine{Form: refine.MonteCarlo}).Plan(p); !errors.Is(err, ErrMethod) {
		t.Errorf("monte_carlo on dense features: %v; want ErrMethod", err)
	}
	p.Features = nil
	if _, err := (DPRefine{}).Plan(p); !errors.Is(err, ErrPublic) {
		t.Errorf("no features: %v; want ErrPublic", err)
	}
	p.Privacy = nil
	if _, err := (DPRefine{}).Plan(p); !errors.Is(err, ErrMethod) {
		t.Errorf("no privacy: %v; want ErrMethod", err)
	}
}
