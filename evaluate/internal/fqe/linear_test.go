package fqe

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// linearOf asks for a linear model of the process with one-hot features.
func linearOf(form string, multiplier float64) Linear {
	l := Linear{Public: tableOf(ByState, multiplier).Public, Form: form, Dim: cells, Norm: 1, Decisions: horizon, MaxWeight: 2, Multiplier: multiplier}
	l.Public.Horizon = 2 * horizon // room for whoever stays in one state
	if form == LinearByAction {
		l.Actions, l.MaxWeight = actions, 1
	}
	return l
}

var linearForms = []string{LinearByAction, LinearByState}

// TestLinearValuesOfStates: with hardly any noise and one-hot features the regressions find the
// values of the process by hand at every number of decisions to go.
func TestLinearValuesOfStates(t *testing.T) {
	s := sampleOf(t, logOf(2000), tabular(t))
	for _, form := range linearForms {
		l := linearOf(form, 1e-7)
		m, err := l.Release(s, noise.NewSeeded(1))
		if err != nil {
			t.Fatal(err)
		}
		read := l.reader()
		if err := read.bind(s); err != nil {
			t.Fatal(err)
		}
		for h, v := range m.Induct() {
			for c := range cells {
				row := slices.Index(s.Data.Obs, float64(c))
				got, ok := read.at(v, row, l.Bounds(horizon))
				if want := worth()[h][c]; !ok || math.Abs(got-want) > 1e-3 {
					t.Errorf("%s: %d decisions to go, state %d: %v; want %v", form, h+1, c, got, want)
				}
			}
		}
	}
}

// The drift of these tests moves x to keep x + push(2a - 1) and pays (x' + 3)/6: values are
// linear in x.
const (
	driftKeep  = 0.8
	driftPush  = 0.4
	driftSteps = 4
	driftOne   = 0.75 // the target's probability of action 1
)

// drift lists every course from several starts.
func drift(t testing.TB, times int) *value.Sample {
	t.Helper()
	d := &trajectory.Dataset{Columns: []string{"obs_x"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for _, start := range []float64{-1, -0.25, 0.5, 1} {
		for course := range times << driftSteps {
			x := start
			for step := range driftSteps {
				a := course >> step & 1
				d.Obs = append(d.Obs, x)
				x = driftKeep*x + driftPush*float64(2*a-1)
				d.Action = append(d.Action, int32(a))
				d.BehaviorProb = append(d.BehaviorProb, 0.5)
				d.Reward = append(d.Reward, (x+3)/6)
			}
			d.Terminated = append(d.Terminated, false)
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			d.PersonStart = append(d.PersonStart, len(d.Terminated))
		}
	}
	f, err := feature.NewColumns([]string{"obs_x"}, []feature.Range{{Low: -3, High: 3}}, feature.ColumnsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := value.NewSample(d, value.Options{Gamma: 1, Features: f, Policy: oneMostly{}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// oneMostly takes action 1 with probability driftOne everywhere.
type oneMostly struct{ d *trajectory.Dataset }

func (oneMostly) Actions() int                                     { return 2 }
func (oneMostly) MaxProb() float64                                 { return driftOne }
func (oneMostly) Bind(d *trajectory.Dataset) (policy.Bound, error) { return oneMostly{d}, nil }
func (o oneMostly) Prob(row int) (float64, bool) {
	return [2]float64{1 - driftOne, driftOne}[o.d.Action[row]], true
}
func (oneMostly) Distribution(dst []float64, _ int) bool {
	copy(dst, []float64{1 - driftOne, driftOne})
	return true
}

func driftOf(form string, persons int, multiplier float64) Linear {
	l := Linear{
		Public: facts.Public{Persons: int64(persons), Adjacency: dp.ReplaceOne, Gamma: 1, Reward: facts.Range{Min: 0, Max: 1}, Returns: facts.Range{Min: 0, Max: driftSteps}, Horizon: driftSteps},
		Form:   form, Dim: 1, Norm: 1, Decisions: driftSteps, MaxWeight: 2, Multiplier: multiplier,
	}
	if form == LinearByAction {
		l.Actions, l.MaxWeight = 2, 1
	}
	return l
}

// driftWorth is the value by hand with so many decisions to go.
func driftWorth(x float64, left int) float64 {
	sum := 0.0
	for range left {
		x = driftKeep*x + driftPush*(2*driftOne-1)
		sum += (x + 3) / 6
	}
	return sum
}

// TestLinearValuesOfADrift: values of a process whose values are linear in a number are
// found at every number of decisions to go, by action and by weights, though no log tells
// what followed the last decision.
func TestLinearValuesOfADrift(t *testing.T) {
	s := drift(t, 40)
	for _, form := range linearForms {
		l := driftOf(form, s.Data.Persons(), 1e-7)
		m, err := l.Release(s, noise.NewSeeded(1))
		if err != nil {
			t.Fatal(err)
		}
		read := l.reader()
		if err := read.bind(s); err != nil {
			t.Fatal(err)
		}
		values := m.Induct()
		for h, v := range values {
			for row := range 3 * driftSteps {
				x := s.Data.Obs[row]
				got, ok := read.at(v, row, l.Bounds(driftSteps))
				if want := driftWorth(x, h+1); !ok || math.Abs(got-want) > 2e-3 {
					t.Errorf("%s: %d decisions to go at %v: %v; want %v", form, h+1, x, got, want)
				}
			}
		}
		start, err := (Start{Public: l.Public, Multiplier: 1e-7}).ReleaseLinear(l, s, values[driftSteps-1], noise.NewSeeded(2))
		if want := driftWorth(0.0625, driftSteps); err != nil || math.Abs(start.Value-want) > 2e-3 {
			t.Errorf("%s: mean over first states %v (%v); want %v", form, start.Value, err, want)
		}
	}
}

// TestLinearErrors: over draws of the noise the mean of the value over what follows decisions
// varies by what Errors says, within a quarter: 400 draws tell a deviation to 4%, and what
// Errors says is itself made of noisy numbers.
func TestLinearErrors(t *testing.T) {
	s := drift(t, 1000)
	for _, form := range linearForms {
		l := driftOf(form, s.Data.Persons(), 1)
		read := l.reader()
		if err := read.bind(s); err != nil {
			t.Fatal(err)
		}
		moments, err := l.Release(s, noise.NewSeeded(1))
		if err != nil {
			t.Fatal(err)
		}
		stated, sampling := moments.Errors(moments.Induct())
		first := moments.first()
		const draws = 400
		sum, squares := 0.0, 0.0
		exact := make([]float64, l.Coordinates())
		one := make([]float64, l.Coordinates())
		for p := range s.Data.Persons() {
			read.person(one, p)
			for i, x := range one {
				exact[i] += x
			}
		}
		rng := rand.New(rand.NewPCG(3, 3))
		for range draws {
			noisy := slices.Clone(exact)
			for i := range noisy {
				noisy[i] += rng.NormFloat64() * l.SD()
			}
			m, err := l.model(noisy)
			if err != nil {
				t.Fatal(err)
			}
			v := m.Induct()[driftSteps-1]
			mean := v.Constant
			for i, w := range v.Weights {
				mean += w * first[i]
			}
			sum += mean
			squares += mean * mean
		}
		found := math.Sqrt(squares/draws - sum*sum/draws/draws)
		if r := stated / found; r < 0.75 || r > 1.25 || !(sampling > 0 && sampling < 0.1) {
			t.Errorf("%s: the noise makes %v, and Errors says %v; sampling %v", form, found, stated, sampling)
		}
	}
}

// TestLinearAudit bounds mu from below on a person whose moments are longer than the clip,
// there or not: the bound stays under the claim, comes near it, and exceeds it once the
// noise is halved.
func TestLinearAudit(t *testing.T) {
	const multiplier = 1.0
	const claim = 1.0 / multiplier
	worlds := [2]*value.Sample{
		sampleOf(t, &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0, 0}, EpisodeStart: []int{0}}, policy.Logged{}),
		sampleOf(t, &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1}, Obs: []float64{1}, Reward: []float64{1e6}, Terminated: []bool{true}}, policy.Logged{}),
	}
	lower := func(multiplier float64, seed uint64) float64 {
		l := linearOf(LinearByState, multiplier)
		l.Public.Horizon, l.Decisions, l.MaxWeight, l.Public.Adjacency = 1, 1, 1, dp.AddRemoveOne
		src := noise.NewSeeded(seed)
		psi := []float64{constant, 0, math.Sqrt(1 - constant*constant)}
		found, err := audit.DrawNumbers(auditRuns, func(world int) float64 {
			m, err := l.Release(worlds[world], src)
			if err != nil {
				t.Fatal(err)
			}
			score := 0.0
			for i, a := range psi {
				score += a * m.rewards[i]
				for j, b := range psi {
					score += a * b * m.moments[0].At(i, j)
				}
			}
			return score
		}).Bound(audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return found.Mu
	}
	if got := lower(multiplier, 41); got > claim || got < 0.8*claim {
		t.Errorf("mu is at least %.4f; the event claims %.4f, and the audit should find 0.8 of it", got, claim)
	}
	if got := lower(multiplier/2, 42); got < claim {
		t.Errorf("halved noise passes: mu at least %.4f, claim %.4f", got, claim)
	}
}
