package evaluate

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate/internal/refine"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// The persons of the audited data. The crowd stands for many persons with the
// same record; first is the person who is replaced by other.
const (
	auditCrowd = iota
	auditFirst
	auditOther
)

// auditData holds one record of each kind: all visit states 0 and 1; returns are
// one half for the crowd, far above the range for first and far below for other.
func auditData() *trajectory.Dataset {
	return &trajectory.Dataset{
		Columns:      []string{"obs_state"},
		PersonStart:  []int{0, 1, 2, 3},
		EpisodeStart: []int{0, 2, 4, 6},
		Obs:          []float64{0, 1, 0, 1, 0, 1},
		Reward:       []float64{0, 0.5, 0, 1e6, 0, -1e6},
		Terminated:   []bool{true, true, true},
	}
}

// refineAudit runs dp-refine on a crowd and one person more, and computes for
// every run the logarithm of the likelihood ratio of everything it released
// between the two persons: the best statistic there is to tell them apart.
type refineAudit struct {
	crowd     float64
	plan      *Plan
	neighbour bool
	// noise, clip and stretch spoil the mechanism: factors on the noise, on the
	// clip that the mechanism enforces (at the same noise), and on contributions.
	noise, clip, stretch float64

	ratio float64 // of the run so far
}

func newRefineAudit(t *testing.T, adjacency dp.Adjacency) *refineAudit {
	t.Helper()
	a := &refineAudit{crowd: 1e5 - 1, noise: 1, clip: 1, stretch: 1}
	p := handmadePublic(t, adjacency, must(feature.NewTabular(2, "obs_state")))
	p.Persons, p.Gamma, p.Target = 1e5, 1, policy.Logged{}
	p.Privacy.Budget = dp.Budget{Epsilon: 20, Delta: 1e-6}
	a.plan = must(DPRefine{Rounds: 2, instead: a.inPlace}.Plan(p))
	a.plan.public.Persons = 3 // the records that stand for the persons
	return a
}

func (a *refineAudit) inPlace(q refine.Sum, each func() refine.Contribution, src *noise.Source) ([]float64, error) {
	point := func(person int) []float64 {
		x := make([]float64, q.Dim)
		each()(x, person)
		return x
	}
	first, other := point(auditFirst), point(auditOther)
	present := first
	if a.neighbour {
		present = other
	}
	sum, err := mechanism.NewVectorSum(q.Dim, q.Clip*a.clip, q.Multiplier/a.clip*a.noise, q.Kind)
	if err != nil {
		return nil, err
	}
	for i := range present {
		present[i] *= a.stretch
	}
	if err := sum.Add(present); err != nil {
		return nil, err
	}
	noisy, _, err := sum.Release(src)
	if err != nil {
		return nil, err
	}
	// The direction from other to first is known, whoever is present.
	first, other = point(auditFirst), point(auditOther)
	sd := q.SD()
	for i, x := range noisy {
		a.ratio += (first[i] - other[i]) * (x - (first[i]+other[i])/2) / (sd * sd)
	}
	for i, x := range point(auditCrowd) {
		noisy[i] += a.crowd * x
	}
	return noisy, nil
}

// lowerMu bounds the mu of the two sides from below.
func (a *refineAudit) lowerMu(t testing.TB, src *noise.Source) float64 {
	ready := [2]*Ready{must(a.plan.Check(context.Background(), auditData())), must(a.plan.Check(context.Background(), auditData()))}
	samples := audit.DrawNumbers(auditRuns, func(world int) float64 {
		a.neighbour, a.ratio = world == 1, 0
		ready[world].used.Store(false) // the audit repeats what no caller can
		if _, err := ready[world].Run(context.Background(), receipt.None(), src); err != nil {
			t.Fatal(err)
		}
		return a.ratio
	})
	return must(samples.Bound(audit.Options{})).Mu
}

// muOf is the mu of composed Gaussian events under ReplaceOne.
func muOf(events []dp.Event) float64 {
	square, _ := audit.MuSquared(dp.Composed{Events: events}, dp.ReplaceOne)
	return math.Sqrt(square)
}

// TestRefineAudit bounds the mu of the joint release of all rounds from below:
// under the claim as it is, also when a person tries to add more than the clip,
// and above it with mistakes planted.
func TestRefineAudit(t *testing.T) {
	a := newRefineAudit(t, dp.ReplaceOne)
	events := a.plan.Event.(dp.Composed).Events
	claim := muOf(events)
	if got := a.lowerMu(t, noise.NewSeeded(1)); got > claim || got < auditShare*claim {
		t.Errorf("mu is at least %.3f; the event claims %.3f, and the audit should find %v of it", got, claim, auditShare)
	} else if uncharged := muOf(events[:len(events)-1]); got < uncharged {
		t.Errorf("a round left uncharged passes: mu is at least %.3f, claim %.3f", got, uncharged)
	}
	a = newRefineAudit(t, dp.ReplaceOne)
	a.stretch = 10
	if got := a.lowerMu(t, noise.NewSeeded(2)); got > claim {
		t.Errorf("contributions beyond the clip: mu is at least %.3f; the event claims %.3f", got, claim)
	}
	a = newRefineAudit(t, dp.ReplaceOne)
	a.noise = 0.5 // also what taking the clip for the sensitivity would do
	if got := a.lowerMu(t, noise.NewSeeded(3)); got < claim {
		t.Errorf("halved noise passes: mu is at least %.3f, claim %.3f", got, claim)
	}
	a = newRefineAudit(t, dp.ReplaceOne)
	a.stretch, a.clip = 10, 100
	if got := a.lowerMu(t, noise.NewSeeded(4)); got < claim {
		t.Errorf("a clip that is not enforced passes: mu is at least %.3f, claim %.3f", got, claim)
	}
}

// TestRefineSpendsItsBudgetExactly wants the accountant's epsilon within the
// budget, and above 0.999 of it.
func TestRefineSpendsItsBudgetExactly(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, epsilon := range []float64{0.01, 0.1, 1, 10} {
			for _, rounds := range []int{0, 1, 7} {
				p := chainPublic(1000, 1, policy.Logged{})
				p.Privacy = &Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-5}}
				plan := must(DPRefine{Rounds: rounds}.Plan(p))
				accountant := account.NewClosedForm(adjacency)
				if err := accountant.Compose(t.Context(), plan.Event, 1); err != nil {
					t.Fatal(err)
				}
				got := must(accountant.Epsilon(t.Context(), 1e-5))
				if !(got.Upper <= epsilon && got.Lower > 0.999*epsilon) {
					t.Errorf("%v, budget %v, %d rounds: epsilon is %v; want in (0.999, 1] of the budget", adjacency, epsilon, rounds, got)
				}
			}
		}
	}
}
