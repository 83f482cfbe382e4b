package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

func TestSentencesAreSaidOfTheUnit(t *testing.T) {
	for _, c := range []struct {
		unit     evaluate.Unit
		in, want string
	}{
		{"", "A person's record", "A person's record"},
		{evaluate.Person, "one person, two persons", "one person, two persons"},
		{evaluate.Episode, "A person's record, a person, all persons, Persons", "An episode's record, an episode, all episodes, Episodes"},
		{evaluate.Row, "A person's record, a person, all persons", "A row's record, a row, all rows"},
		{evaluate.Row, "problem.persons: 1/persons; personal, in persons", "problem.persons: 1/rows; personal, in rows"},
	} {
		if got := c.unit.Words(c.in); got != c.want {
			t.Errorf("%q of %q: %q; want %q", c.unit, c.in, got, c.want)
		}
	}
}

// unitData is twenty units of two decisions on two states, and the facts about them.
func unitData(unit evaluate.Unit) (*trajectory.Dataset, evaluate.Public) {
	var b trajectory.Builder
	for p := range 20 {
		b.Add(&trajectory.Episode{Person: p, Columns: []string{"obs_s"}, Obs: []float64{0, 1}, Action: []int32{0, 1}, BehaviorProb: []float64{.5, .5}, Reward: []float64{0, 1}, Terminated: true})
	}
	f, err := (&feature.Spec{Kind: "tabular", States: 2, Column: "obs_s"}).Map()
	if err != nil {
		panic(err)
	}
	return b.Dataset(), evaluate.Public{
		Persons: 20, Gamma: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Horizon: 2, Episodes: 1, Features: f, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Unit: unit, Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
	}
}

// Plan and release of every private method state the unit that was asked for, and
// speak of persons only where persons are it.
func TestReleasesStateTheirUnit(t *testing.T) {
	for _, m := range evaluate.Methods() {
		if !m.Private || m.NeedOutcome || m.NeedArms || m.Learns { // dpsurvival_test.go, dplearn_test.go
			continue
		}
		for _, unit := range []evaluate.Unit{"", evaluate.Person, evaluate.Episode, evaluate.Row} {
			for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
				d, p := unitData(unit)
				p.Privacy.Adjacency = adjacency
				params := map[string]any{}
				if m.Name == "gpope" {
					params["iterations"] = 10
				}
				e, err := evaluate.New(m.Name, params)
				if err != nil {
					t.Fatal(err)
				}
				plan, err := e.Plan(p)
				if err != nil {
					t.Fatalf("%s: %v", m.Name, err)
				}
				ready, err := plan.Check(context.Background(), d)
				if err != nil {
					t.Fatalf("%s: %v", m.Name, err)
				}
				release, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1))
				if err != nil {
					t.Fatalf("%s: %v", m.Name, err)
				}
				text, err := json.Marshal(release)
				if err != nil {
					t.Fatal(err)
				}
				if release.Privacy.Unit.String() != unit.String() || release.Privacy.Unit == "" {
					t.Errorf("%s: unit %q; want %q", m.Name, release.Privacy.Unit, unit)
				}
				spoken := strings.ToLower(string(text) + strings.Join(plan.Notes, " "))
				if persons := unit.String() == "person"; persons != strings.Contains(spoken, "person") {
					t.Errorf("%s of unit %q, %v: %s", m.Name, unit, adjacency, spoken)
				}
			}
		}
	}
	_, p := unitData("household")
	if _, err := (evaluate.DPIS{}).Plan(p); !errors.Is(err, evaluate.ErrPublic) {
		t.Errorf("an unknown unit: %v", err)
	}
}

// A method that bootstraps, or whose interval allows for what follows a cut, refuses data
// that do not say how episodes end; the others do not care. Neither takes discounts for granted.
func TestEndsAndDiscountsAreNotGuessed(t *testing.T) {
	needs := map[string]bool{"dp-fqe": true, "dp-refine": true, "gpope": true, "lstd": true, "dp-is": true, "dp-pdis": true, "dp-wis": true, "dp-dr": true, "dp-distribution": true, "distribution": true, "wis-lstd": true, "gtd2": true} // auto chooses the constant here
	for _, m := range evaluate.Methods() {
		if m.NeedOutcome || m.NeedArms || m.Learns { // dpsurvival_test.go, dplearn_test.go
			continue
		}
		params := map[string]any{}
		switch m.Name {
		case "gpope":
			params["iterations"] = 10
		case "gtd2":
			params["steps"] = 10
		}
		e, err := evaluate.New(m.Name, params)
		if err != nil {
			t.Fatal(err)
		}
		check := func(change func(*trajectory.Dataset, *evaluate.Public)) error {
			d, p := unitData("")
			if !m.Private {
				p.Privacy = nil
			}
			change(d, &p)
			plan, err := e.Plan(p)
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			_, err = plan.Check(context.Background(), d)
			return err
		}
		if err := check(func(*trajectory.Dataset, *evaluate.Public) {}); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		err = check(func(d *trajectory.Dataset, _ *evaluate.Public) { d.Terminated = nil })
		if needs[m.Name] != errors.Is(err, evaluate.ErrData) || err != nil && !strings.Contains(fmt.Sprint(err), "problem.end") {
			t.Errorf("%s without known ends: %v", m.Name, err)
		}
		if err := check(func(_ *trajectory.Dataset, p *evaluate.Public) { p.Discounts = true }); !errors.Is(err, evaluate.ErrData) {
			t.Errorf("%s with discounts that are not there: %v", m.Name, err)
		}
	}
}
