package evaluate_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
)

// treated is the share of persons who get another action than 0 by a rule, of 20,000.
func (w trialWorld) treated(f evaluate.PolicyFile) float64 {
	const points = 20000
	r := rand.New(rand.NewPCG(8, 8))
	n := 0.0
	for range points {
		if followed(f, w.point(r), w.names()) > 0 {
			n++
		}
	}
	return n / points
}

// learnBudget is a limit on who is treated: of three states in twelve, a little less than these.
func (w trialWorld) learnBudget() float64 {
	if w.covariates == 0 {
		return 0.24
	}
	return 0.3
}

// Under a limit on who is treated the true share is at most that in all but 5% of logs and four
// standard errors, and the rule gains over treating nobody: by a table, by trees and by a linear rule.
func TestABudgetIsKept(t *testing.T) {
	for _, w := range trialWorlds()[:5] {
		over, gained := 0, 0.0
		for log := range uint64(learnDraws) {
			adjacency := dp.ReplaceOne
			if log%3 == 0 {
				adjacency = dp.AddRemoveOne
			}
			m := w.learner()
			m.Budget = w.learnBudget()
			plan, r := released(t, m, w.public(6000, 1, adjacency), w.draw(6000, log), log)
			if err := plan.Verify(r); err != nil {
				t.Fatal(err)
			}
			if w.treated(r.Learned.Policy) > m.Budget+0.004 { // as 20,000 persons tell
				over++
			}
			rule, arms, _, _ := w.worth(r.Learned.Policy)
			gained += (rule - arms[0]) / learnDraws
		}
		if most := int(0.05*learnDraws + 4*math.Sqrt(0.05*0.95*learnDraws) + 1); over > most {
			t.Errorf("%s: more than a share of %v is treated in %d of %d logs", w.name, w.learnBudget(), over, learnDraws)
		}
		if gained < 0.03 {
			t.Errorf("%s: the rule gains %.3f over treating nobody", w.name, gained)
		}
	}
}

// What must not be done is not, and actions are in order, whatever was learned; who asks for
// less than a release keeps to sees it refused.
func TestLimitsAreKept(t *testing.T) {
	half, seven := 0.5, 7.0
	for name, c := range map[string]struct {
		world int
		limit func(*evaluate.DPLearn)
		keeps func(x []float64, action int) bool
	}{
		"never above a half": {0, func(m *evaluate.DPLearn) {
			m.Never = []evaluate.Forbidden{{Action: 1, Column: "obs_b", Above: &half}}
		}, func(x []float64, action int) bool { return x[1] <= 0.5 || action == 0 }},
		"never in states from 8 on": {3, func(m *evaluate.DPLearn) {
			m.Never = []evaluate.Forbidden{{Action: 2, Column: "obs_state", Above: &seven}}
		}, func(x []float64, action int) bool { return x[0] <= 7 || action < 2 }},
		"more states, lower actions": {3, func(m *evaluate.DPLearn) { m.Monotone = map[string]string{"obs_state": "down"} }, nil},
		"more of the covariate, lower actions": {0, func(m *evaluate.DPLearn) {
			m.Depth, m.Monotone = 3, map[string]string{"obs_b": "down", "obs_a": "up"}
		}, nil},
		"a line that falls": {4, func(m *evaluate.DPLearn) {
			m.Monotone = map[string]string{"obs_a": "down", "obs_b": "up"}
		}, nil},
	} {
		w := trialWorlds()[c.world]
		for seed := range uint64(10) {
			m := w.learner()
			c.limit(&m)
			plan, r := released(t, m, w.public(2000, 1, dp.ReplaceOne), w.draw(2000, seed), seed)
			if err := plan.Verify(r); err != nil {
				t.Fatal(err)
			}
			points := rand.New(rand.NewPCG(seed, 3))
			for range 200 {
				x := w.point(points)
				action := followed(r.Learned.Policy, x, w.names())
				if c.keeps != nil && !c.keeps(x, action) {
					t.Fatalf("%s: action %d at %v", name, action, x)
				}
				for column, way := range m.Monotone {
					j := strings.Index("obs_a obs_b", column) / 6
					y := append([]float64(nil), x...)
					y[max(j, 0)] += 1 + points.Float64()
					if other := followed(r.Learned.Policy, y, w.names()); (other > action) && way == "down" || (other < action) && way == "up" {
						t.Fatalf("%s: action %d at %v and %d at %v", name, action, x, other, y)
					}
				}
			}
			free, err := w.learner().Plan(w.public(2000, 1, dp.ReplaceOne))
			if err != nil {
				t.Fatal(err)
			}
			if m.Never != nil && free.Verify(r) == nil {
				t.Errorf("%s: the release passes as one without limits", name)
			}
		}
	}
}

// What happens to persons who must not be treated is no reason to treat others: arm 1 helps only
// above .8, where it is forbidden, and a tree that asks at a half alone treats nobody.
func TestWhatIsForbiddenIsNoReason(t *testing.T) {
	w, most := trialWorlds()[1], 0.8
	m := evaluate.DPLearn{Depth: 1, Bins: 2, Never: []evaluate.Forbidden{{Action: 1, Column: "obs_a", Above: &most}}}
	for _, family := range []evaluate.NoiseFamily{"", evaluate.GaussianNoise} {
		p := w.public(20000, 5, dp.ReplaceOne)
		p.Privacy.NoiseFamily = family
		_, r := released(t, m, p, w.draw(20000, 1), 1)
		if len(r.Learned.Policy.Nodes) != 1 || r.Learned.Policy.Nodes[0].Probs[0] != 1 {
			t.Errorf("%q: the policy is %+v; want action 0 for all", family, r.Learned.Policy.Nodes)
		}
	}
}

// Limits that cannot be kept are refused by name.
func TestLimitsAreRefused(t *testing.T) {
	w := trialWorlds()[0]
	x := func(v float64) *float64 { return &v }
	for words, m := range map[string]evaluate.DPLearn{
		"budget is 1":                {Budget: 1},
		"budget is -0.1":             {Budget: -0.1},
		"never[0].column is \"age\"": {Never: []evaluate.Forbidden{{Action: 1, Column: "age", Above: x(3)}}},
		"never[0].action is 2":       {Never: []evaluate.Forbidden{{Action: 2, Column: "obs_a", Above: x(3)}}},
		"want a part of the range":   {Never: []evaluate.Forbidden{{Action: 1, Column: "obs_a", Above: x(3), AtMost: x(2)}}},
		"forbids action 0":           {Budget: 0.5, Never: []evaluate.Forbidden{{Column: "obs_a", Above: x(0.5)}}},
		"leaves no action to some":   {Never: []evaluate.Forbidden{{Column: "obs_a", Above: x(0.5)}, {Action: 1, Column: "obs_b", Above: x(0.5)}}},
		"want one of [obs_a":         {Monotone: map[string]string{"obs_a": "right"}},
		"about different columns":    {Monotone: map[string]string{"obs_a": "up"}, Never: []evaluate.Forbidden{{Action: 1, Column: "obs_a", Above: x(0.5)}}},
	} {
		if _, err := m.Plan(w.public(1000, 1, dp.ReplaceOne)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("want %q; got %v", words, err)
		}
	}
	p := w.public(1000, 1, dp.ReplaceOne)
	p.Horizon, p.OneDecision = 3, false
	p.Features, _ = feature.NewTabular(3, "obs_state")
	if _, err := (evaluate.DPLearn{Budget: 0.3}).Plan(p); err == nil || !strings.Contains(err.Error(), "budget is a share of persons") {
		t.Errorf("want a budget of several decisions refused; got %v", err)
	}
	m := evaluate.DPLearn{Monotone: map[string]string{"obs_state": "up"}, Never: []evaluate.Forbidden{{Column: "obs_state", AtMost: x(0)}, {Action: 1, Column: "obs_state", Above: x(1)}}}
	if _, err := m.Plan(p); err == nil || !strings.Contains(err.Error(), "leave no policy") {
		t.Errorf("want limits that leave nothing refused; got %v", err)
	}
}
