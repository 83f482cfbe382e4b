package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// patient is a row of a table of survival: arm, time, what ended it.
type patient struct{ arm, time, event float64 }

// patients makes the data of a table; a nil entry is a person without a usable row.
func patients(rows ...*patient) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: []string{"obs_arm", "obs_event"}, PersonStart: []int{0}, EpisodeStart: []int{0},
		Obs: []float64{}, Reward: []float64{}, Terminated: []bool{}}
	for _, r := range rows {
		if r != nil {
			d.Obs = append(d.Obs, r.arm, r.event)
			d.Reward = append(d.Reward, r.time)
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			d.Terminated = append(d.Terminated, true)
		}
		d.PersonStart = append(d.PersonStart, len(d.Reward))
	}
	return d
}

// trialFacts are those of two arms over three bins with two causes.
func trialFacts(persons int64, adjacency dp.Adjacency) evaluate.Public {
	return evaluate.Public{
		Persons: persons, Gamma: 1, Horizon: 1, Episodes: 1, OneDecision: true, Target: policy.Logged{},
		Outcome: &evaluate.Outcome{Event: "obs_event", Censored: []float64{0}, Causes: []evaluate.Cause{{Name: "death", Number: 1}, {Name: "transplant", Number: 2}}, Ends: []float64{1, 2, 4}},
		By:      &evaluate.Groups{Column: "obs_arm", Of: []evaluate.Group{{Name: "new", Number: 1}, {Name: "old", Number: 0}}},
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 1, Delta: 1e-7}},
	}
}

func released(t testing.TB, e evaluate.Estimator, p evaluate.Public, d *trajectory.Dataset, seed uint64) (*evaluate.Plan, *evaluate.Release) {
	t.Helper()
	plan, err := e.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := plan.Check(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ready.Run(t.Context(), receipt.None(), noise.NewSeeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	return plan, r
}

// Every kind of person is counted where it belongs.
func TestEveryPersonIsInOneCell(t *testing.T) {
	d := patients(
		&patient{1, 0, 1}, &patient{1, 1, 1}, // in the first bin, whose end belongs to it
		&patient{1, 1.5, 0}, &patient{1, 4, 2}, &patient{1, 4.5, 1}, // beyond the last bin whatever came then
		&patient{0, 2, 0}, &patient{0, 3, 1},
		&patient{1, -1, 1}, &patient{0, math.NaN(), 0}, &patient{0, 1, 7}, // unusable
		&patient{3, 1, 1}, // in no arm
		nil,               // nothing is known
	)
	arms, unknown, elsewhere, err := trialFacts(12, dp.ReplaceOne).CountOutcomes(d)
	if err != nil {
		t.Fatal(err)
	}
	want := []evaluate.OutcomeCount{
		{Arm: "new", Events: []int{2, 1}, Censored: 1, Followed: 1, Unusable: 1},
		{Arm: "old", Events: []int{1, 0}, Censored: 1, Followed: 0, Unusable: 2},
	}
	for i, a := range arms {
		if a.Arm != want[i].Arm || !slices.Equal(a.Events, want[i].Events) || a.Censored != want[i].Censored || a.Followed != want[i].Followed || a.Unusable != want[i].Unusable {
			t.Errorf("%+v; want %+v", a, want[i])
		}
	}
	if unknown != 1 || elsewhere != 1 {
		t.Errorf("%d unknown and %d in no arm; want 1 of each", unknown, elsewhere)
	}
}

// A person with two rows has no outcome that can be used, and so does not choose between them.
func TestTwoRowsAreNoOutcome(t *testing.T) {
	d := patients(&patient{1, 1, 1}, &patient{1, 3, 0})
	d.PersonStart = []int{0, 2}
	arms, _, _, err := trialFacts(1, dp.ReplaceOne).CountOutcomes(d)
	if err != nil || arms[0].Unusable != 1 || arms[0].Events[0]+arms[0].Censored != 0 {
		t.Errorf("%+v, %v; want one unusable outcome", arms, err)
	}
}

// A person whose rows name two arms may be of either: they are not counted as of another.
func TestAnArmThatChangesIsUnknown(t *testing.T) {
	d := patients(&patient{1, 1, 0}, &patient{0, 1, 0}, &patient{7, 1, 0}, &patient{7, 1, 0})
	d.EpisodeStart, d.PersonStart = []int{0, 2, 4}, []int{0, 1, 2} // two persons of two decisions
	d.Terminated = []bool{true, true}
	p := trialFacts(2, dp.ReplaceOne)
	p.Outcome, p.Horizon, p.OneDecision = &evaluate.Outcome{Causes: []evaluate.Cause{{Name: "end", Number: 1}}, Ends: []float64{1, 2}}, 2, false
	_, unknown, elsewhere, err := p.CountOutcomes(d)
	if err != nil || unknown != 1 || elsewhere != 1 {
		t.Errorf("%d of unknown arm, %d in no arm, %v; want 1 of each", unknown, elsewhere, err)
	}
}

// Of a reference that repairs, those who are left out are counted in the release.
func TestAReferenceSaysWhomItLeavesOut(t *testing.T) {
	p := trialFacts(3, dp.ReplaceOne)
	p.Privacy = nil
	d := patients(&patient{1, 1, 1}, &patient{0, 2, 0}, &patient{1, -1, 1})
	plan, err := (evaluate.KaplanMeier{}).Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Check(t.Context(), d); !errors.Is(err, evaluate.ErrData) || !strings.Contains(err.Error(), "repair") {
		t.Errorf("where nothing is repaired: %v; want ErrData with the remedy", err)
	}
	p.Labels = map[string]any{"on_violation": "repair"}
	plan, r := released(t, evaluate.KaplanMeier{}, p, d, 1)
	if n := len(r.Notes); n == 0 || r.Notes[n-1] != "1 persons whose outcome cannot be used are left out." || plan.Verify(r) != nil {
		t.Errorf("notes %q, %v; want the number of those who are left out last", r.Notes, plan.Verify(r))
	}
}

// Strata are read by person, and one that is not listed makes an outcome that cannot be used.
func TestStrataOfPersons(t *testing.T) {
	d := patients(&patient{1, 1, 0}, &patient{2, 1, 0}, &patient{2, 1, 1}, &patient{3, 1, 1})
	p := trialFacts(4, dp.ReplaceOne)
	p.By, p.Outcome.Strata = nil, &evaluate.Strata{Column: "obs_arm", Values: []float64{2, 1}}
	arms, _, _, err := p.CountOutcomes(d)
	if err != nil || len(arms) != 1 || arms[0].Unusable != 1 || arms[0].Strata[0].Censored != 1 || arms[0].Strata[0].Events[0] != 1 || arms[0].Strata[1].Censored != 1 {
		t.Errorf("%+v, %v; want stratum 2 with an event and a censored person, stratum 1 with a censored one, and one unusable", arms, err)
	}
	p.Privacy.LargeDelta = true
	plan, r := released(t, evaluate.DPSurvival{}, p, d, 1)
	if err := plan.Verify(r); err != nil || !strings.Contains(strings.Join(r.Notes, " "), "within each stratum of each arm") {
		t.Errorf("%v, notes %q; want the assumption by stratum", err, r.Notes)
	}
	p.Outcome.Ends = nil
	for j := range 400 {
		p.Outcome.Ends = append(p.Outcome.Ends, float64(j+1))
	}
	p.Outcome.Strata.Values = nil
	for v := range 32 {
		p.Outcome.Strata.Values = append(p.Outcome.Strata.Values, float64(v))
	}
	if _, err := (evaluate.DPSurvival{}).Plan(p); err == nil || !strings.Contains(err.Error(), "want at most") {
		t.Errorf("400 bins of 32 strata: %v; want too many cells", err)
	}
}

// From trajectories the time is the number of decisions: one that terminates has the event
// there, one that is cut off is censored there, and one that reaches the horizon was followed.
func TestOutcomesOfTrajectories(t *testing.T) {
	d := &trajectory.Dataset{PersonStart: []int{0, 1, 2, 3, 4}, EpisodeStart: []int{0, 1, 3, 6, 9}, Reward: make([]float64, 9), Terminated: []bool{true, false, true, false}}
	p := evaluate.Public{Persons: 4, Gamma: 1, Horizon: 3, Episodes: 1, Target: policy.Logged{}, Outcome: &evaluate.Outcome{Causes: []evaluate.Cause{{Name: "discharge", Number: 1}}, Ends: []float64{1, 2, 3}}}
	_, r := released(t, evaluate.KaplanMeier{}, p, d, 1)
	// At risk 4, 3, 2; events 1, 0, 1.
	if want := []float64{0.75, 0.75, 0.375}; !slices.Equal(r.Survival.Arms[0].Survival.Values, want) {
		t.Errorf("survival %v; want %v", r.Survival.Arms[0].Survival.Values, want)
	}
	if e := r.Answers[0].Estimate; e.Value != 2.5 || r.Answers[0].Name != "value" {
		t.Errorf("restricted mean %+v; want 1 + .75 + .75", r.Answers[0])
	}
}

// Both families spend the budget and no more, follow the schema, state their noise, verify, and
// plan again from what the release says.
func TestSurvivalKeepsItsBudgetAndVerifies(t *testing.T) {
	var rows []*patient
	for i := range 400 {
		rows = append(rows, &patient{float64(i % 2), float64(i%9) / 2, float64(i % 3)})
	}
	d := patients(rows...)
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, family := range []evaluate.NoiseFamily{"", evaluate.GaussianNoise, evaluate.LaplaceNoise} {
			for _, delta := range []float64{0, 1e-7} {
				p := trialFacts(400, adjacency)
				p.Privacy.NoiseFamily, p.Privacy.Budget.Delta = family, delta
				e := evaluate.DPSurvival{Control: "old", Until: 2}
				if family == evaluate.GaussianNoise && delta == 0 {
					if _, err := e.Plan(p); !errors.Is(err, dp.ErrBudget) {
						t.Errorf("Gaussian noise at delta 0: %v; want ErrBudget", err)
					}
					continue
				}
				plan, r := released(t, e, p, d, 3)
				if plan.Epsilon.Upper > 1 || plan.Epsilon.Upper < 0.999 {
					t.Errorf("%v, %q, delta %v: epsilon %v; want 1", adjacency, family, delta, plan.Epsilon)
				}
				if wide := r.Public["noise_family"]; family != "" && wide != family || family == "" && wide != evaluate.LaplaceNoise {
					t.Errorf("%v, %q, delta %v: noise is %v", adjacency, family, delta, wide)
				}
				text, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				if err := schema.Check(schema.Release, text); err != nil {
					t.Errorf("%v, %q, delta %v: %v", adjacency, family, delta, err)
				}
				var read evaluate.Release
				if err := json.Unmarshal(text, &read); err != nil {
					t.Fatal(err)
				}
				again, err := evaluate.Replan(&read, nil, nil)
				if err == nil {
					err = again.Verify(&read)
				}
				if err != nil {
					t.Errorf("%v, %q, delta %v: %v", adjacency, family, delta, err)
				}
				read.Survival.Arms[0].Survival.Upper[0] *= 0.99
				if again.Verify(&read) == nil {
					t.Errorf("a changed limit of a curve verifies")
				}
			}
		}
	}
}

// Limits surround values, curves fall, incidences rise, and nothing leaves its range, whatever
// the noise made of the counts.
func TestSurvivalStaysInItsRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []*patient
		for range rapid.IntRange(1, 60).Draw(t, "persons") {
			rows = append(rows, &patient{rapid.Float64Range(0, 1).Draw(t, "arm"), rapid.Float64Range(0, 5).Draw(t, "time"), float64(rapid.IntRange(0, 2).Draw(t, "event"))})
			rows[len(rows)-1].arm = math.Round(rows[len(rows)-1].arm)
		}
		p := trialFacts(int64(len(rows)), dp.ReplaceOne)
		p.Privacy.Budget = dp.Budget{Epsilon: rapid.Float64Range(0.05, 20).Draw(t, "epsilon"), Delta: 0}
		p.Outcome.Grouped = rapid.Bool().Draw(t, "grouped")
		p.Complete = rapid.Bool().Draw(t, "complete")
		plan, err := (evaluate.DPSurvival{Control: "old"}).Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		ready, err := plan.Check(context.Background(), patients(rows...))
		if err != nil {
			t.Fatal(err)
		}
		r, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(rapid.Uint64().Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		curve := func(what string, c evaluate.Curve, low, high float64, falls, rises bool) {
			for j := range c.Lower {
				if !(c.Lower[j] >= low && c.Lower[j] <= c.Upper[j] && c.Upper[j] <= high) || j < len(c.Values) && !(c.Lower[j] <= c.Values[j] && c.Values[j] <= c.Upper[j]) {
					t.Fatalf("%s, bin %d: limits %v and %v, values %v", what, j, c.Lower[j], c.Upper[j], c.Values)
				}
				if j > 0 && (falls && c.Upper[j] > c.Upper[j-1] || rises && c.Lower[j] < c.Lower[j-1]) {
					t.Fatalf("%s: limits %v and %v are not monotone", what, c.Lower, c.Upper)
				}
			}
		}
		for _, a := range r.Survival.Arms {
			curve(a.Name, a.Survival, 0, 1, true, false)
			for _, i := range a.Incidence {
				curve(a.Name+" "+i.Cause, i.Curve, 0, 1, false, true)
			}
			if m := a.RestrictedMean; !(m.Interval[0] >= 0 && m.Interval[0] <= m.Value && m.Value <= m.Interval[1] && m.Interval[1] <= 4) {
				t.Fatalf("restricted mean %+v", m)
			}
		}
		for _, d := range r.Survival.Differences {
			curve(d.Name, d.Curve, -1, 1, false, false)
		}
	})
}

// Nothing that the method would ignore is accepted, and no other method takes an outcome.
func TestSurvivalRefusesWhatItIgnores(t *testing.T) {
	data := patients(&patient{1, 1, 1})
	table, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	for words, change := range map[string]func(p *evaluate.Public){
		"one curve for all persons": func(p *evaluate.Public) { p.Target = table },
		"need known probabilities": func(p *evaluate.Public) {
			p.By, p.Behavior = nil, &evaluate.EstimatedBehavior{States: 2, Column: "obs_arm", Actions: 2}
		},
		"want independent":       func(p *evaluate.Public) { p.Outcome.Censoring = "some" },
		"time is not discounted": func(p *evaluate.Public) { p.Gamma = 0.9 },
		"follows from the bins":  func(p *evaluate.Public) { p.Reward = evaluate.Range{Min: 0, Max: 1} },
		"increase":               func(p *evaluate.Public) { p.Outcome.Ends = []float64{1, 1} },
		"stands for":             func(p *evaluate.Public) { p.Outcome.Censored = []float64{1} },
		"want 1 to 6":            func(p *evaluate.Public) { p.Outcome.Causes = nil },
		"one row a person":       func(p *evaluate.Public) { p.OneDecision, p.Horizon = false, 3 },
		"problem.episodes to 1":  func(p *evaluate.Public) { p.OneDecision, p.Horizon, p.Episodes = false, 3, 0 }, // the unit is a person where none is named
		"laplace":                func(p *evaluate.Public) { p.Privacy.NoiseFamily, p.Privacy.Fast = "laplace", true },
		"noise_family":           func(p *evaluate.Public) { p.Privacy.NoiseFamily = "cauchy" },
		"needs data.outcome":     func(p *evaluate.Public) { p.Outcome, p.Reward = nil, evaluate.Range{Min: 0, Max: 1} },
	} {
		p := trialFacts(100, dp.ReplaceOne)
		change(&p)
		if _, err := (evaluate.DPSurvival{}).Plan(p); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v; want an error with %q", err, words)
		}
	}
	if _, err := (evaluate.DPIS{}).Plan(trialFacts(100, dp.ReplaceOne)); !errors.Is(err, evaluate.ErrMethod) {
		t.Errorf("dp-is with an outcome: %v; want ErrMethod", err)
	}
	p := trialFacts(1, dp.ReplaceOne)
	p.Complete, p.Privacy.LargeDelta = true, true
	data.Obs[1] = 9
	plan, err := (evaluate.DPSurvival{}).Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Check(t.Context(), data); !errors.Is(err, evaluate.ErrData) || !strings.Contains(err.Error(), "complete") {
		t.Errorf("an event that is not listed in complete data: %v; want ErrData", err)
	}
}

// Persons without an outcome may have had any: intervals that allow for them hold what the
// data would say had they all survived, or all died at once.
func TestMissingOutcomesAreAllowedFor(t *testing.T) {
	var rows, survived, died []*patient
	for i := range 3000 {
		r := &patient{float64(i % 2), 1 + float64(i%4), float64(i % 3 / 2)}
		lost := i%10 == 0
		if lost {
			rows, survived, died = append(rows, nil), append(survived, &patient{r.arm, 5, 0}), append(died, &patient{r.arm, 0, 1})
			continue
		}
		rows, survived, died = append(rows, r), append(survived, r), append(died, r)
	}
	reference := func(rows []*patient) *evaluate.Survival {
		p := trialFacts(3000, dp.ReplaceOne)
		p.Privacy = nil
		_, r := released(t, evaluate.KaplanMeier{Control: "old"}, p, patients(rows...), 1)
		return r.Survival
	}
	p := trialFacts(3000, dp.ReplaceOne)
	_, r := released(t, evaluate.DPSurvival{Control: "old"}, p, patients(rows...), 5)
	for _, s := range []*evaluate.Survival{reference(survived), reference(died)} {
		for i, a := range s.Arms {
			got := r.Survival.Arms[i]
			if v, in := a.RestrictedMean.Value, got.RestrictedMean.Interval; v < in[0] || v > in[1] {
				t.Errorf("%s: restricted mean %v outside %v", a.Name, v, in)
			}
			for j, v := range a.Survival.Values {
				if v < got.Survival.Lower[j] || v > got.Survival.Upper[j] {
					t.Errorf("%s: survival %v outside [%v, %v]", a.Name, v, got.Survival.Lower[j], got.Survival.Upper[j])
				}
			}
		}
	}
	// Three hundred of 3,000 are of unknown arm: each arm of 1,350 may lack all of them.
	if share := r.Survival.Arms[0].MissingShare; math.Abs(share-300.0/1650) > 0.02 {
		t.Errorf("missing share %v; want about 300/1650", share)
	}
}
