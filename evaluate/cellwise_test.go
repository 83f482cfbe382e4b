package evaluate_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// unrecorded asks for new, old and logged and their differences, of a log without probabilities.
func (w ward) unrecorded(t testing.TB, persons int64, adjacency dp.Adjacency) evaluate.Public {
	p := banditPublic(t, persons, adjacency, nil)
	p.Behavior = &evaluate.EstimatedBehavior{States: len(w.often), Column: "state", Actions: w.drawn.Actions()}
	p.Targets = &evaluate.Targets{
		Policies: []evaluate.NamedPolicy{{Name: "new", Policy: w.new}, {Name: "old", Policy: w.old}, {Name: "logged", Policy: policy.Logged{}}},
		Levels:   []string{"new", "old", "logged"}, Contrasts: [][2]string{{"new", "old"}, {"new", "logged"}}, Best: true,
	}
	return p
}

// bare is a log without its probabilities.
func bare(d *trajectory.Dataset) *trajectory.Dataset {
	out := *d
	out.BehaviorProb = nil
	return &out
}

// TestCellsAnswerTogether: in random problems all intervals of one release hold the values that backward
// sums give, in 95% of logs; of 120 fewer than 103 do with probability below 1e-4. The whole budget is
// one event, and a plan that is made of the release verifies it, and refuses it with another sum.
func TestCellsAnswerTogether(t *testing.T) {
	const persons, problems, logs = 4000, 12, 10
	for _, c := range []struct {
		adjacency dp.Adjacency
		family    evaluate.NoiseFamily
	}{{dp.ReplaceOne, evaluate.GaussianNoise}, {dp.AddRemoveOne, evaluate.GaussianNoise}, {dp.ReplaceOne, evaluate.LaplaceNoise}, {dp.AddRemoveOne, evaluate.LaplaceNoise}, {dp.ReplaceOne, ""}} {
		held, alone := 0, 0
		for problem := range problems {
			rng := rand.New(rand.NewPCG(uint64(problem), 271))
			w := drawWard(rng)
			p := w.unrecorded(t, persons, c.adjacency)
			if p.Privacy.NoiseFamily = c.family; c.family == evaluate.LaplaceNoise {
				p.Privacy.Budget.Delta = 0
			}
			plan := must(evaluate.DPWIS{}.Plan(p))
			_, gaussian := plan.Event.(dp.Gaussian)
			_, laplace := plan.Event.(dp.DiscreteLaplace)
			if c.family == evaluate.GaussianNoise && !gaussian || c.family != evaluate.GaussianNoise && !laplace || plan.Epsilon.Upper > 1 {
				t.Fatalf("%s: the event is %v of epsilon %v", c.family, plan.Event, plan.Epsilon)
			}
			truth := map[string]float64{"new": w.worthOf(w.new, nil), "old": w.worthOf(w.old, nil), "logged": w.worthOf(w.drawn, nil)}
			truth["new - old"], truth["new - logged"] = truth["new"]-truth["old"], truth["new"]-truth["logged"]
			for log := range logs {
				r := runOf(t, plan, bare(w.log(t, persons, rng)), noise.NewSeeded(uint64(log)))
				all := true
				for name, want := range truth {
					i := -1
					for k, a := range r.Answers {
						if a.Name == name {
							i = k
						}
					}
					e := r.Answers[i].Estimate
					all = all && e.Interval[0] <= want && want <= e.Interval[1]
				}
				if all {
					held++
				}
				if log > 0 {
					continue
				}
				again := must(evaluate.Replan(throughJSON(t, r), nil, nil))
				if err := again.Verify(throughJSON(t, r)); err != nil {
					t.Fatal(err)
				}
				other := throughJSON(t, r)
				other.Diagnostics["masses_by_cell"].(map[string]any)["gained"].([]any)[0].([]any)[0] = 1.0
				if again.Verify(other) == nil {
					t.Error("another sum verifies")
				}
				for _, cell := range [][2]any{{0.0, 2.5}, {-3.0, 1.0}, {0.5, 0.4}} {
					other = throughJSON(t, r)
					first := other.Public["policies_by_cell"].([]any)[0].([]any)
					first[0], first[1] = cell[0], cell[1]
					if _, err := evaluate.Replan(other, nil, nil); !errors.Is(err, evaluate.ErrRelease) {
						t.Errorf("%v are probabilities: %v", cell, err)
					}
				}
			}
			alone += logs
		}
		if held < 103 {
			t.Errorf("%v, %s: in %d of %d logs all intervals hold", c.adjacency, c.family, held, alone)
		}
	}
}

// TestCellsAreForFunctionsOfTheCell: a policy that reads something else, parameters of the other form,
// several decisions and too many cells have the counts and weights of docs/proofs/propensities.md.
func TestCellsAreForFunctionsOfTheCell(t *testing.T) {
	w := drawWard(rand.New(rand.NewPCG(1, 271)))
	for name, c := range map[string]struct {
		method evaluate.Estimator
		change func(p *evaluate.Public)
		want   bool
	}{
		"cells":             {evaluate.DPIS{}, func(*evaluate.Public) {}, true},
		"one value":         {evaluate.DPPDIS{}, func(p *evaluate.Public) { p.Target, p.Targets = w.new, nil }, true},
		"auto":              {evaluate.Auto{}, func(p *evaluate.Public) { p.Target, p.Targets = w.new, nil }, true},
		"a column":          {evaluate.DPIS{}, func(p *evaluate.Public) { p.Targets.Policies[0].Policy = policy.ProbColumn{} }, false},
		"another state":     {evaluate.DPIS{}, func(p *evaluate.Public) { p.Behavior.Column = "other" }, false},
		"a clip":            {evaluate.DPIS{Clip: "auto"}, func(*evaluate.Public) {}, false},
		"a share":           {evaluate.DPIS{}, func(p *evaluate.Public) { p.Behavior.Share, p.Behavior.Floor = 0.3, 0.1 }, true},
		"a cap":             {evaluate.DPIS{MaxWeight: 4}, func(*evaluate.Public) {}, false},
		"confounding":       {evaluate.DPIS{Confounding: 1.5}, func(*evaluate.Public) {}, false},
		"several decisions": {evaluate.DPIS{}, func(p *evaluate.Public) { p.Horizon = 2 }, false},
		"too many cells":    {evaluate.DPIS{}, func(p *evaluate.Public) { p.Behavior.States = 1000 }, false},
	} {
		p := w.unrecorded(t, 4000, dp.ReplaceOne)
		c.change(&p)
		plan, err := c.method.Plan(p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, got := plan.Facts["policies_by_cell"]; got != c.want {
			t.Errorf("%s: by cell %v; want %v", name, got, c.want)
		}
		const unused = "Not used here, since persons are counted by cell: share and floor."
		if slices.Contains(plan.Notes, unused) != (name == "a share") {
			t.Errorf("%s: %q", name, plan.Notes)
		}
	}
}

// TestMeanReturnEstimatesNothing: of the logged policy alone probabilities would be estimated in vain,
// whatever the noise.
func TestMeanReturnEstimatesNothing(t *testing.T) {
	w := drawWard(rand.New(rand.NewPCG(1, 271)))
	for _, family := range []evaluate.NoiseFamily{"", evaluate.GaussianNoise, evaluate.LaplaceNoise} {
		for _, fast := range []bool{false, true} {
			for _, complete := range []bool{false, true} {
				p := w.unrecorded(t, 4000, dp.ReplaceOne)
				p.Target, p.Targets, p.Complete = policy.Logged{}, nil, complete
				p.Privacy.NoiseFamily, p.Privacy.Fast = family, fast
				for _, m := range []evaluate.Estimator{evaluate.DPIS{}, evaluate.DPPDIS{}, evaluate.DPWIS{}, evaluate.DPDR{}, evaluate.Auto{}} {
					if plan, err := m.Plan(p); err == nil {
						t.Errorf("%T, %q, fast %v, complete %v: planned as %v", m, family, fast, complete, plan.Event)
					}
				}
			}
		}
	}
}

// TestPersonsInNoCell: an action beyond those that are stated, and a person without an episode, are missing mass, and
// a policy that cannot judge a row is an error for the curator.
func TestPersonsInNoCell(t *testing.T) {
	w := drawWard(rand.New(rand.NewPCG(2, 271)))
	p := w.unrecorded(t, 4000, dp.ReplaceOne)
	p.Target, p.Targets = w.new, nil
	p.Privacy.Budget.Epsilon = 50
	d := bare(w.log(t, 4000, rand.New(rand.NewPCG(3, 1))))
	for i := range 400 {
		d.Action[i] = int32(w.drawn.Actions())
	}
	plan := must(evaluate.DPWIS{}.Plan(p))
	if _, err := plan.Check(t.Context(), d); err == nil || !strings.Contains(err.Error(), "400 such rows") {
		t.Errorf("an action that the policy does not know: %v", err)
	}
	p.Behavior.Column = "" // constant policies, one cell
	p.Behavior.States, p.Behavior.Actions = 0, 2
	p.Target = must(policy.NewConstant(1))
	for i := range d.Action {
		d.Action[i] = int32(i % 2)
	}
	for i := range 400 {
		d.Action[i] = 3
	}
	r := run(t, evaluate.DPWIS{}, p, d, noise.NewSeeded(1))
	share := r.Answers[0].Diagnostics["missing_mass"].(map[string]float64)["share"]
	if share < 0.09 || share > 0.11 {
		t.Errorf("%v missing of .1", share)
	}
	if got := reflect.TypeOf(r.Answers[0].Diagnostics["masses_by_cell"]); got == nil {
		t.Error("no sums")
	}
}

// throughJSON is a release as its reader has it.
func throughJSON(t testing.TB, r *evaluate.Release) *evaluate.Release {
	t.Helper()
	var out evaluate.Release
	if err := json.Unmarshal(must(json.Marshal(r)), &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

// An action beyond those that are stated is another one's by mistake: a policy that knows nothing of it passes it over, and
// complete records have none, of one decision and of several.
func TestCompleteRecordsHaveNoActionBeyondTheStated(t *testing.T) {
	for _, horizon := range []int{1, 3} {
		w := random("of an action too many", 3, 2, horizon, 4).unrecorded(2)
		for _, complete := range []bool{false, true} {
			p := w.withheld(8000, 2)
			p.Target, p.Complete = constantPolicies(2)[1], complete
			d := bare(w.draw(8000, 1))
			d.Action[len(d.Action)-1] = 2
			_, err := must(evaluate.DPPDIS{}.Plan(p)).Check(t.Context(), d)
			if (err != nil) != complete || complete && !strings.Contains(err.Error(), "an action is beyond the 2") {
				t.Errorf("%d decisions, complete %t: %v", horizon, complete, err)
			}
		}
	}
}
