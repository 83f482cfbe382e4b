package evaluate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// treated are patients who were given action 0 or 1 by a fair coin; the table has one row a person.
func treated(actions []int32, rows ...*patient) *trajectory.Dataset {
	d := patients(rows...)
	d.Action = actions
	d.BehaviorProb = make([]float64, len(actions))
	for i := range actions {
		d.BehaviorProb[i] = 0.5
	}
	return d
}

// underPolicy are facts of survival, had all been given action 1, by a fair coin.
func underPolicy(t testing.TB, persons int64, adjacency dp.Adjacency) evaluate.Public {
	t.Helper()
	p := trialFacts(persons, adjacency)
	one, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	p.By, p.Target, p.Privacy.LargeDelta = nil, one, true
	p.Design = &evaluate.Design{Ratios: []float64{2}, Squares: []float64{2}, Supported: true}
	return p
}

// The sums are those of weights over the largest, and the curve is that of Kaplan and Meier.
func TestSumsOfWeights(t *testing.T) {
	d := treated([]int32{1, 1, 1, 1, 0, 0}, &patient{0, 1, 1}, &patient{0, 2, 0}, &patient{0, 2, 2}, &patient{0, 9, 0}, &patient{0, 1, 1}, &patient{0, 1, 1})
	p := underPolicy(t, 6, dp.ReplaceOne)
	p.Privacy.Budget = dp.Budget{Epsilon: 1e4, Delta: 0} // hardly any noise
	plan, r := released(t, evaluate.DPSurvival{}, p, d, 1)
	var cells []float64
	text, err := json.Marshal(r.Diagnostics["cells"])
	if err == nil {
		err = json.Unmarshal(text, &cells)
	}
	if err != nil {
		t.Fatal(err)
	}
	// By bin: censored, death, transplant; then beyond the last bin, unusable, and of nothing known.
	for i, want := range []float64{0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0} {
		if math.Abs(cells[i]-want) > 0.01 {
			t.Errorf("sums %v; those who were given action 0 have weight 0, and all others the largest", cells)
			break
		}
	}
	if err := plan.Verify(r); err != nil {
		t.Error(err)
	}
	if a := r.Survival.Arms[0]; a.Name != "target policy" || math.Abs(a.AtRisk[0]-8) > 0.1 {
		t.Errorf("%s: %v at risk; want twice the four who were treated so", a.Name, a.AtRisk[0])
	}
}

// Curves are had where public facts bound weights and support the policy, and the curator states
// of censoring what has to be; elsewhere limits, which name what is lacking. Both come first.
func TestCurvesOrLimits(t *testing.T) {
	steps := func(p *evaluate.Public) {
		p.OneDecision, p.Horizon = false, 3
		p.Outcome = &evaluate.Outcome{Causes: []evaluate.Cause{{Name: "end", Number: 1}}, Ends: []float64{1, 2, 3}, Censoring: p.Outcome.Censoring}
	}
	for name, c := range map[string]struct {
		change func(p *evaluate.Public)
		cap    float64
		form   string
		words  string
	}{
		"a design":             {func(*evaluate.Public) {}, 0, "curves", "By the design no weight exceeds 2"},
		"no design":            {func(p *evaluate.Public) { p.Design = nil }, 0, "limits", "no public design bounds the weights"},
		"no support":           {func(p *evaluate.Public) { p.Design.Supported = false }, 0, "limits", "positive probability"},
		"a lower cap":          {func(*evaluate.Public) {}, 1.5, "limits", "max_weight is 1.5"},
		"any censoring":        {func(p *evaluate.Public) { p.Outcome.Censoring = "any" }, 0, "limits", "counts as alive until then"},
		"steps, nothing said":  {steps, 0, "limits", "counts for nothing"},
		"steps, unanticipated": {func(p *evaluate.Public) { p.Outcome.Censoring = "unanticipated"; steps(p) }, 0, "limits", "as the curator states that nobody left"},
		"steps, independent":   {func(p *evaluate.Public) { p.Outcome.Censoring = "independent"; steps(p) }, 0, "curves", "stated by the curator"},
		"steps, any":           {func(p *evaluate.Public) { p.Outcome.Censoring = "any"; steps(p) }, 0, "limits", "counts for nothing"},
		"logged, any":          {func(p *evaluate.Public) { p.Target, p.Design, p.Outcome.Censoring = policy.Logged{}, nil, "any" }, 0, "limits", "data.outcome.censoring is any"},
		"logged, unanticipated": {func(p *evaluate.Public) {
			p.Target, p.Design, p.Outcome.Censoring = policy.Logged{}, nil, "unanticipated"
		}, 0, "limits", "does not say that it is independent"},
	} {
		p := underPolicy(t, 1000, dp.ReplaceOne)
		c.change(&p)
		plan, err := evaluate.DPSurvival{MaxWeight: c.cap}.Plan(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if plan.Facts["form"] != c.form || !strings.Contains(plan.Notes[0], c.words) {
			t.Errorf("%s: %v, first %q; want %s, and %q", name, plan.Facts["form"], plan.Notes[0], c.form, c.words)
		}
		if plan.Expected.HalfWidth <= 0 {
			t.Errorf("%s: nothing is forecast", name)
		}
		// The forecast cannot know what the design lets pass the cap, or leaves out.
		misses := name == "no design" || name == "no support" || name == "a lower cap"
		if said := strings.Contains(strings.Join(plan.Outlook, "\n"), "above the cap of"); said != misses {
			t.Errorf("%s: %q; weight may be missing: %v", name, plan.Outlook, misses)
		}
	}
	for words, change := range map[string]func(p *evaluate.Public){
		"use replace_one": func(p *evaluate.Public) { p.Design, p.Privacy.Adjacency = nil, dp.AddRemoveOne },
		"leave strata out": func(p *evaluate.Public) {
			p.Design, p.Outcome.Strata = nil, &evaluate.Strata{Column: "obs_arm", Values: []float64{0, 1}}
		},
		"leave select out": func(p *evaluate.Public) { *p = several(t, *p); p.Targets.Best = true },
		"precision":        func(p *evaluate.Public) { p.Design, p.BehaviorPrecision = nil, 1e-3 },
		"leave by out":     func(p *evaluate.Public) { p.By = trialFacts(9, dp.ReplaceOne).By },
	} {
		p := underPolicy(t, 1000, dp.ReplaceOne)
		change(&p)
		if _, err := (evaluate.DPSurvival{}).Plan(p); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v; want an error with %q", err, words)
		}
	}
}

// Where limits are expected to say next to nothing and a lower cap would mend it, plan and release say
// by which; the forecast that they tell is that of a plan with that cap.
func TestALowerCapIsNamedWhereItHelps(t *testing.T) {
	for _, c := range []struct {
		epsilon, cap float64
		design       bool
		helps        bool
	}{{1, 64, false, true}, {1, 2, false, false}, {0.1, 30, false, true}, {1e-3, 64, false, false}, {1e-3, 0, true, false}} {
		p := underPolicy(t, 300, dp.ReplaceOne)
		p.Privacy.Budget.Epsilon = c.epsilon
		if !c.design {
			p.Design = nil
		}
		m := evaluate.DPSurvival{MaxWeight: c.cap}
		plan, err := m.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(plan.Notes, func(n string) bool { return strings.HasPrefix(n, "Noise is in proportion to max_weight") })
		if (i >= 0) != c.helps {
			t.Errorf("%+v: half width %g of %g, notes %q", c, plan.Expected.HalfWidth, plan.Expected.Constant, plan.Notes)
		}
		if i < 0 {
			continue
		}
		var here, half float64
		if _, err := fmt.Sscanf(plan.Notes[i], "Noise is in proportion to max_weight, here %f, and is expected to leave hardly an answer. With max_weight %f the expected half width is %f,", &here, &m.MaxWeight, &half); err != nil {
			t.Fatalf("%q: %v", plan.Notes[i], err)
		}
		lower, err := m.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		if e := lower.Expected; here != c.cap || m.MaxWeight >= here || math.Abs(half/e.HalfWidth-1) > 1e-3 || half >= 0.9*e.Constant {
			t.Errorf("%q; such a plan expects %g of %g", plan.Notes[i], e.HalfWidth, e.Constant)
		}
	}
}

// The cap of limits is that of the noise they get: as if its family had been named.
func TestANoiseFamilyThatIsChosenIsAsIfNamed(t *testing.T) {
	p := underPolicy(t, 40, dp.ReplaceOne)
	p.Design, p.Privacy.Budget = nil, dp.Budget{Epsilon: 1, Delta: 1e-3}
	plan := func() *evaluate.Plan {
		made, err := evaluate.DPSurvival{}.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	chosen := plan()
	p.Privacy.NoiseFamily = chosen.Facts["noise_family"].(evaluate.NoiseFamily)
	if named := plan(); !cmp.Equal(named.Facts, chosen.Facts) {
		t.Error(cmp.Diff(named.Facts, chosen.Facts))
	}
}

// several asks for both treatments, the policy that made the data, and differences.
func several(t testing.TB, p evaluate.Public) evaluate.Public {
	t.Helper()
	zero, err := policy.NewConstant(0)
	if err != nil {
		t.Fatal(err)
	}
	p.Targets = &evaluate.Targets{Levels: []string{"one", "as it was"}, Contrasts: [][2]string{{"one", "zero"}, {"one", "as it was"}},
		Policies: []evaluate.NamedPolicy{{Name: "zero", Policy: zero}, {Name: "one", Policy: p.Target}, {Name: "as it was", Policy: policy.Logged{}}}}
	p.Target = nil
	return p
}

// Where weights are too large for right probabilities, here those of a fair coin that always fell
// on 1, nothing is known: of curves, of limits, and of differences, but of the logged policy.
func TestSurvivalOfWrongProbabilitiesIsUnknown(t *testing.T) {
	const persons = 400
	rows, actions := make([]*patient, persons), make([]int32, persons)
	for i := range rows {
		rows[i], actions[i] = &patient{0, float64(1 + i%3), float64(i % 2)}, 1
	}
	one, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, design := range []bool{true, false} {
		p := underPolicy(t, persons, dp.ReplaceOne)
		p.Target, p.Targets = nil, &evaluate.Targets{
			Policies:  []evaluate.NamedPolicy{{Name: "one", Policy: one}, {Name: "logged", Policy: policy.Logged{}}},
			Contrasts: [][2]string{{"one", "logged"}}, Levels: []string{"one", "logged"},
		}
		if !design {
			p.Design = nil
		}
		p.Privacy.Budget = dp.Budget{Epsilon: 50, Delta: 1e-6}
		plan, r := released(t, evaluate.DPSurvival{}, p, treated(actions, rows...), 1)
		if err := plan.Verify(r); err != nil {
			t.Error(err)
		}
		total := r.Survival.Until
		for i, want := range [][2]float64{{0, total}, {}, {-total, total}} {
			if got := r.Answers[i].Estimate.Interval; (got == want) != (i != 1) || i == 1 && got[1]-got[0] > total/2 {
				t.Errorf("design %v: %s: %v", design, r.Answers[i].Name, got)
			}
		}
		if a := r.Survival.Arms[0].Survival; a.Lower[0] != 0 || a.Upper[len(a.Upper)-1] != 1 || !strings.Contains(r.Notes[0], "are wrong") {
			t.Errorf("design %v: limits %v, first %q", design, a, r.Notes[0])
		}
	}
}

// Several policies keep the budget, have all answers that are asked for, follow the schema, verify and plan again; a person
// adds to two tables at most, that of one treatment and that of all.
func TestSeveralPolicies(t *testing.T) {
	var rows []*patient
	var actions []int32
	for i := range 2000 {
		rows, actions = append(rows, &patient{0, float64(i%9) / 2, float64(i % 3)}), append(actions, int32(i%2))
	}
	d := treated(actions, rows...)
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, family := range []evaluate.NoiseFamily{evaluate.GaussianNoise, evaluate.LaplaceNoise} {
			for _, form := range []string{"curves", "limits"} {
				p := several(t, underPolicy(t, 2000, adjacency))
				p.Privacy.NoiseFamily = family
				if form == "limits" {
					if p.Outcome.Censoring = "any"; adjacency == dp.AddRemoveOne {
						continue
					}
				}
				plan, r := released(t, evaluate.DPSurvival{}, p, d, 3)
				if plan.Epsilon.Upper > 1 || plan.Epsilon.Upper < 0.999 || plan.Facts["form"] != form {
					t.Errorf("%v, %s: epsilon %v, %v; want 1 and %s", adjacency, family, plan.Epsilon, plan.Facts["form"], form)
				}
				if sd, one := plan.Facts["noise_std"].(float64), 2.83*adjacency.SumSensitivity(1)/2; family == evaluate.LaplaceNoise && math.Abs(sd-2*one) > 0.02 {
					t.Errorf("%v: noise of %v; want %v, of two tables", adjacency, sd, 2*one)
				}
				var names []string
				for _, a := range r.Answers {
					names = append(names, a.Name)
					if e := a.Estimate; !(e.Interval[0] <= e.Value && e.Value <= e.Interval[1]) {
						t.Errorf("%s: %+v", a.Name, e)
					}
				}
				if got := strings.Join(names, "; "); got != "one; as it was; one - zero; one - as it was" {
					t.Errorf("answers %s", got)
				}
				text, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				var read evaluate.Release
				if err := json.Unmarshal(text, &read); err != nil {
					t.Fatal(err)
				}
				again, err := evaluate.Replan(&read, nil, nil)
				if err == nil {
					err = again.Verify(&read)
				}
				if err == nil {
					err = schema.Check(schema.Release, text)
				}
				if err != nil {
					t.Errorf("%v, %s, %s: %v", adjacency, family, form, err)
				}
			}
		}
	}
}

// The score by hand, of three persons of whom one dies and two leave.
func TestTrendsOfLeaving(t *testing.T) {
	p := trialFacts(3, dp.ReplaceOne)
	p.By = nil
	d := patients(&patient{10, 1, 1}, &patient{20, 1.5, 0}, &patient{30, 0.5, 0})
	d.Action = []int32{5, 5, 5}
	p.Outcome.Grouped = false
	arms, _, _, err := p.CountOutcomes(d)
	if err != nil {
		t.Fatal(err)
	}
	got := arms[0].Trends["obs_arm"]
	// In the first bin, after the death, two are at risk, with ranks 1/2 and 5/6, and the second leaves.
	apart, variance := 5.0/6-2.0/3, 1.0/36
	if math.Abs(got[0]-apart) > 1e-12 || math.Abs(got[1]-variance) > 1e-12 {
		t.Errorf("score %v; want %v and %v", got, apart, variance)
	}
	if _, there := arms[0].Trends["action"]; there || len(arms[0].Trends) != 1 {
		t.Errorf("trends %v; all have the same action, and the event is no covariate", arms[0].Trends)
	}
	// Where every policy treats all alike, leaving may depend on the action.
	d.Action = []int32{0, 0, 1}
	for _, target := range []policy.Policy{underPolicy(t, 3, dp.ReplaceOne).Target, policy.Logged{}} {
		p.Target = target
		if arms, _, _, err = p.CountOutcomes(d); err != nil {
			t.Fatal(err)
		}
		if _, there := arms[0].Trends["action"]; there != (target == policy.Logged{}) {
			t.Errorf("%T: trends %v", target, arms[0].Trends)
		}
	}
}

// The weight of a person is the product over all decisions that they took, and no others.
func TestWeightsOfDecisions(t *testing.T) {
	d := &trajectory.Dataset{PersonStart: []int{0, 1, 2}, EpisodeStart: []int{0, 2, 5}, Reward: make([]float64, 5), Terminated: []bool{true, false},
		BehaviorProb: []float64{0.5, 0.5, 0.5, 0.5, 0.5}, TargetProb: []float64{0.75, 0.25, 0.75, 0.75, 0.75}, Obs: []float64{}}
	p := underPolicy(t, 2, dp.ReplaceOne)
	p.Target, p.OneDecision, p.Horizon, p.Privacy.Budget = policy.ProbColumn{}, false, 3, dp.Budget{Epsilon: 1e4}
	p.Outcome = &evaluate.Outcome{Censoring: "independent", Causes: []evaluate.Cause{{Name: "end", Number: 1}}, Ends: []float64{1, 2, 3}}
	p.Design = &evaluate.Design{Ratios: []float64{1.5}, Squares: []float64{1.25}, Supported: true}
	_, r := released(t, evaluate.DPSurvival{}, p, d, 1)
	// Of 3.375, the largest: 1.5 times 0.5 dies at the second decision, and all of it goes on to the end.
	cells := r.Diagnostics["cells"].([]float64)
	for i, want := range []float64{0, 0, 0, 0.75 / 3.375, 0, 0, 1, 0, 0} {
		if math.Abs(cells[i]-want) > 0.01 {
			t.Errorf("sums %v; want %v in cell %d", cells, want, i)
		}
	}
}
