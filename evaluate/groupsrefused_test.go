package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestWhoIsInAGroup: whose rows agree on a number that is listed; nobody else's record
// matters, and who is in none is left out of every answer.
func TestWhoIsInAGroup(t *testing.T) {
	d := &trajectory.Dataset{Columns: []string{"obs_x", "obs_group"}, Reward: make([]float64, 9),
		Obs:         []float64{9, 1, 9, 1, 9, 0, 9, 0, 9, 1, 9, 2, 9, 1, 9, 1, 9, math.NaN()},
		PersonStart: []int{0, 2, 3, 4, 5, 5, 6, 7}, EpisodeStart: []int{0, 1, 2, 3, 5, 6, 8, 9}}
	g := &evaluate.Groups{Column: "obs_group", Of: []evaluate.Group{{Name: "b", Number: 1}, {Name: "a", Number: 0}}}
	d.PersonStart = []int{0, 2, 3, 4, 5, 5, 6, 7}
	got, err := g.Members(d)
	// Two episodes of 1; 0; 0 and 1; 2; nobody; 1 and 1; not a number.
	if want := []int{0, 1, -1, -1, -1, 0, -1}; err != nil || !slices.Equal(got, want) {
		t.Errorf("members %v, %v; want %v", got, err, want)
	}
	// What was left out names: no number; 1; 1; 7; nothing was left out; 0; 1.
	d.LeftOut, d.Lost = []int{1, 1, 1, 1, 0, 1, 1}, []float64{9, math.NaN(), 9, 1, 9, 1, 9, 7, 9, math.NaN(), 9, 0, 9, 1}
	d.Obs[5] = 1 // of who is second
	d.PersonStart[4] = 4
	got, err = g.Members(d)
	if want := []int{0, 0, -1, -1, -1, -1, -1}; err != nil || !slices.Equal(got, want) {
		t.Errorf("with what was left out members %v, %v; want %v", got, err, want)
	}
	d.Obs[5], d.Lost[3] = 0, 7 // listed, and a number that is not
	if got, err = g.Members(d); err != nil || got[1] != -1 {
		t.Errorf("rows name 0, and 7 where they were left out: %v, %v; want none", got, err)
	}
	g.Column = "obs_other"
	if _, err := g.Members(d); !errors.Is(err, evaluate.ErrData) {
		t.Errorf("a column that was not read: %v; want ErrData", err)
	}
}

// TestSizesOfFixedGroupsMustBeRight, and no other size is looked at: nobody in a group is
// no error where sizes are private.
func TestSizesOfFixedGroupsMustBeRight(t *testing.T) {
	d := crowd(rand.New(rand.NewPCG(1, 2)))
	p := byGroup(t, dp.ReplaceOne, true)
	p.By.Of[1].Persons--
	plan, err := evaluate.DPWIS{}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Check(context.Background(), d); !errors.Is(err, evaluate.ErrData) || !strings.Contains(err.Error(), `group "some"`) {
		t.Errorf("%v; want a refusal that names the group", err)
	}
	// One whose rows name no group may be the one who is missing, and another who names no
	// group is one too many, wherever they stand.
	for name, spoil := range map[string]func(*trajectory.Dataset, int) *trajectory.Dataset{
		"an unlisted value": func(d *trajectory.Dataset, person int) *trajectory.Dataset {
			d.Obs = slices.Clone(d.Obs)
			for e := d.PersonStart[person]; e < d.PersonStart[person+1]; e++ {
				for row := d.EpisodeStart[e]; row < d.EpisodeStart[e+1]; row++ {
					d.Observation(row)[d.Column("obs_group")] = 99
				}
			}
			return d
		},
		"no row that can be used": func(d *trajectory.Dataset, person int) *trajectory.Dataset {
			lo, hi := d.EpisodeStart[d.PersonStart[person]], d.EpisodeStart[d.PersonStart[person+1]]
			out, _ := d.LeaveOut(func(row int) bool { return row >= lo && row < hi })
			return out
		},
	} {
		right, err := evaluate.DPWIS{}.Plan(byGroup(t, dp.ReplaceOne, true))
		if err != nil {
			t.Fatal(err)
		}
		for _, person := range []int{0, d.Persons() - 1} {
			one := *d
			spoilt := spoil(&one, person)
			if _, err := right.Check(context.Background(), spoilt); err != nil {
				t.Errorf("%s, person %d: %v", name, person, err)
				continue
			}
			// The released number of persons is the public one: it says nothing of them.
			r := run(t, evaluate.DPWIS{}, byGroup(t, dp.ReplaceOne, true), spoilt, noise.NewSeeded(1))
			for i, a := range r.Answers {
				sums, err := json.Marshal(a.Diagnostics["sums"])
				if want := fmt.Sprintf(`"count":%d,`, byGroup(t, dp.ReplaceOne, true).By.Of[i].Persons); err != nil || !strings.Contains(string(sums), want) {
					t.Errorf("%s, person %d, group %s: sums %s; want %s", name, person, a.Name, sums, want)
				}
			}
			if _, err := plan.Check(context.Background(), spoil(&one, person)); !errors.Is(err, evaluate.ErrData) && person == 0 {
				t.Errorf("%s, person %d: %v; want a refusal", name, person, err)
			}
		}
	}
	for _, c := range promised[:1] {
		q := byGroup(t, c.adjacency, false)
		for i := range q.By.Of {
			q.By.Of[i].Number += 50 // nobody is in any
		}
		for name, m := range map[string]evaluate.Estimator{"is": evaluate.DPIS{}, "pdis": evaluate.DPPDIS{}, "dr by action": evaluate.DPDR{Baseline: "action"}} {
			r := run(t, m, q, d, noise.NewSeeded(1))
			for _, a := range r.Answers {
				if e := a.Estimate; e.Interval[1]-e.Interval[0] < 0.5 {
					t.Errorf("%s, %s: nobody has the interval %v", name, a.Name, e.Interval)
				}
			}
		}
	}
}

// TestRefutedProbabilitiesOfAGroup: where one group shows that they are wrong, the
// interval of every group is the public range.
func TestRefutedProbabilitiesOfAGroup(t *testing.T) {
	d := crowd(rand.New(rand.NewPCG(1, 2)))
	for i := range d.BehaviorProb {
		if d.Obs[i] == 0 {
			d.BehaviorProb[i] = 0.1
		}
	}
	for _, c := range promised {
		p := byGroup(t, c.adjacency, c.fixed)
		p.Privacy.Budget.Epsilon = 5
		r := run(t, evaluate.DPWIS{}, p, d, noise.NewSeeded(3))
		for _, a := range r.Answers {
			if a.Estimate.Interval != [2]float64{0, 1} {
				t.Errorf("%s, %s: %v", c.name, a.Name, a.Estimate.Interval)
			}
		}
		if !strings.HasPrefix(r.Notes[0], "many: The probabilities of the logged actions are wrong") {
			t.Errorf("%s: the first note is %q", c.name, r.Notes[0])
		}
	}
}

// TestQuestionsAboutGroups that make no sense, or that nothing is proved of, are refused
// by name.
func TestQuestionsAboutGroups(t *testing.T) {
	for want, change := range map[string]func(p *evaluate.Public){
		"by.column is missing":            func(p *evaluate.Public) { p.By.Column = "" },
		"1 groups; want 2":                func(p *evaluate.Public) { p.By.Of = p.By.Of[:1] },
		`two groups are named "some"`:     func(p *evaluate.Public) { p.By.Of[0].Name = "some" },
		"a name is \" \"":                 func(p *evaluate.Public) { p.By.Of[0].Name = " " },
		`number of group "some" is 0`:     func(p *evaluate.Public) { p.By.Of[1].Number = 0 },
		`number of group "many" is NaN`:   func(p *evaluate.Public) { p.By.Of[0].Number = math.NaN() },
		"has -1 persons":                  func(p *evaluate.Public) { p.By.Of[0].Persons = -1 },
		"no number for group":             func(p *evaluate.Public) { p.By.Fixed = true },
		"adds up to more than":            func(p *evaluate.Public) { p.By.Fixed = true; setSizes(p, 1000) },
		"fixed under add_remove_one":      func(p *evaluate.Public) { p.By.Fixed = true; p.Privacy.Adjacency = dp.AddRemoveOne },
		"privacy is none":                 func(p *evaluate.Public) { p.Privacy = nil },
		"ask for one of the two":          func(p *evaluate.Public) { p.Targets = arms(t, 2000, dp.ReplaceOne).Targets },
		"printable characters, none of t": func(p *evaluate.Public) { p.By.Of[2].Name = "a\nb" },
	} {
		p := byGroup(t, dp.ReplaceOne, false)
		change(&p)
		_, err := evaluate.DPWIS{}.Plan(p)
		if p.Privacy == nil {
			e, oops := evaluate.New("constant", nil)
			if oops != nil {
				t.Fatal(oops)
			}
			if _, err = e.Plan(p); !errors.Is(err, evaluate.ErrMethod) {
				t.Errorf("constant: %v; want ErrMethod", err)
			}
			continue
		}
		if !errors.Is(err, evaluate.ErrPublic) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	on := byGroup(t, dp.ReplaceOne, false)
	on.Target = policy.Logged{}
	vain := on
	vain.Behavior = &evaluate.EstimatedBehavior{Actions: 2}
	for name, e := range map[string]func() (*evaluate.Plan, error){
		"diagnostics": func() (*evaluate.Plan, error) {
			return evaluate.DPIS{Diagnostics: 0.1}.Plan(byGroup(t, dp.ReplaceOne, false))
		},
		"diagnostics, on": func() (*evaluate.Plan, error) { return evaluate.DPIS{Diagnostics: 0.1}.Plan(on) },
		"weights of all": func() (*evaluate.Plan, error) {
			return evaluate.DPWIS{Guess: &evaluate.WeightGuess{Effective: 0.5}}.Plan(byGroup(t, dp.ReplaceOne, false))
		},
		"paid in vain":      func() (*evaluate.Plan, error) { return evaluate.DPDR{Baseline: "value"}.Plan(on) },
		"nothing to divide": func() (*evaluate.Plan, error) { return evaluate.DPWIS{}.Plan(vain) },
		"confounding, on":   func() (*evaluate.Plan, error) { return evaluate.DPIS{Confounding: 2}.Plan(on) },
		"a model for each": func() (*evaluate.Plan, error) {
			return evaluate.DPDR{Baseline: "model"}.Plan(byGroup(t, dp.ReplaceOne, false))
		},
	} {
		if _, err := e(); !errors.Is(err, evaluate.ErrMethod) {
			t.Errorf("%s: %v; want ErrMethod", name, err)
		}
	}
}

func setSizes(p *evaluate.Public, n int64) {
	for i := range p.By.Of {
		p.By.Of[i].Persons = n
	}
}

// TestMethodsForAllPersonsNameThemselves when they are asked about groups, and say which
// methods there are; the others plan on-policy and off-policy.
func TestMethodsForAllPersonsNameThemselves(t *testing.T) {
	tabular, err := feature.NewTabular(4, "obs_group")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range evaluate.Methods() {
		if m.NeedOutcome || m.NeedArms { // dpsurvival_test.go, dpexperiment_test.go
			continue
		}
		e, err := evaluate.New(m.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range []policy.Policy{policy.Logged{}, policy.ProbColumn{}} {
			p := byGroup(t, dp.ReplaceOne, false)
			p.Target = target
			if !m.Private {
				p.Privacy = nil
			}
			if m.NeedFeatures {
				p.Features = tabular
			}
			_, err = e.Plan(p)
			if slices.Contains([]string{"auto", "dp-is", "dp-pdis", "dp-wis", "dp-dr"}, m.Name) {
				if err != nil {
					t.Errorf("%s: %v", m.Name, err)
				}
			} else if !errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), m.Name+" has one answer for all persons") || !strings.Contains(err.Error(), "dp-pdis") {
				t.Errorf("%s: %v; want a refusal by name with the remedy", m.Name, err)
			}
		}
	}
}
