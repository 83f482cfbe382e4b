package evaluate_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// What is certified of a learned rule is at most what it is worth: learnDraws logs of each of
// five trials, and too high in at most 5% and four standard errors of them. A rule of 6,000 persons gains most of what can be gained.
func TestCertificatesHold(t *testing.T) {
	for _, w := range trialWorlds() {
		high, highLogged, gained := 0, 0, 0.0
		for log := range uint64(learnDraws) {
			adjacency := dp.ReplaceOne
			if log%3 == 0 {
				adjacency = dp.AddRemoveOne
			}
			_, r := released(t, w.learner(), w.public(6000, 1, adjacency), w.draw(6000, log), log)
			rule, arms, logged, best := w.worth(r.Learned.Policy)
			if top := slices.Max(arms); r.Learned.OverConstant > rule-top+1e-9 {
				high++
			}
			if r.Learned.OverLogged > rule-logged+1e-9 {
				highLogged++
			}
			if best > logged+1e-9 {
				gained += (rule - logged) / (best - logged) / learnDraws
			}
		}
		if most := int(0.05*learnDraws + 4*math.Sqrt(0.05*0.95*learnDraws) + 1); high > most || highLogged > most {
			t.Errorf("%s: too high over the best constant in %d of %d, over the logged policy in %d", w.name, high, learnDraws, highLogged)
		}
		if gained < 0.75 && w.name != "no arm is better anywhere" {
			t.Errorf("%s: the rule gains %.2f of what the best one does", w.name, gained)
		}
	}
}

// Of several decisions the policy gains most of what can be gained over the logged one, and a
// certificate is at most what it is worth.
func TestSeveralDecisionsAreLearned(t *testing.T) {
	for _, w := range processes() {
		gained := 0.0
		for log := range uint64(3) {
			_, r := released(t, evaluate.DPLearn{}, w.public(6000, 1), w.draw(6000, log), log)
			gained += w.recovered(r.Learned.Policy) / 3
			if worth := w.worth(&r.Learned.Policy, false) - w.worth(nil, false); r.Learned.OverLogged > worth {
				t.Errorf("%s: certified %v; it gains %v", w.name, r.Learned.OverLogged, worth)
			}
		}
		if gained < 0.7 {
			t.Errorf("%s: %.2f of the gain", w.name, gained)
		}
	}
}

// A policy and its certificates follow from the sums: whatever is changed is refused, the JSON
// form is as its schema says, and the file is a policy that can be asked about.
func TestALearnedPolicyFollowsFromItsSums(t *testing.T) {
	for _, w := range []trialWorld{trialWorlds()[0], trialWorlds()[3], trialWorlds()[4]} {
		plan, r := released(t, w.learner(), w.public(2000, 1, dp.AddRemoveOne), w.draw(2000, 1), 5)
		if plan.Epsilon.Upper > 1 || plan.Epsilon.Upper < 0.99 {
			t.Errorf("epsilon %v; want the budget's", plan.Epsilon)
		}
		lowest := r.Answers[1].Estimate.Interval[0] // over all constant actions
		for _, a := range r.Answers[1:] {
			lowest = min(lowest, a.Estimate.Interval[0])
		}
		if r.Learned.OverConstant != lowest || r.Learned.OverLogged != r.Answers[0].Estimate.Interval[0] {
			t.Errorf("certified are %v and %v; want the lower limits %v and %v", r.Learned.OverConstant, r.Learned.OverLogged, lowest, r.Answers[0].Estimate.Interval[0])
		}
		file, err := json.Marshal(r.Learned.Policy)
		if err != nil {
			t.Fatal(err)
		}
		if w.depth == linear {
			_, err = policy.ReadSoftGreedy(bytes.NewReader(file), "policy.json")
		} else {
			_, err = policy.ReadTree(bytes.NewReader(file), "policy.json")
		}
		if err != nil {
			t.Error(err)
		}
		editsAreRefused(t, plan, r, map[string]func(*evaluate.Release){
			"a certificate": func(r *evaluate.Release) { r.Learned.OverConstant += 0.01 },
			"the rule":      func(r *evaluate.Release) { r.Learned.Policy.Nodes = []policy.Node{{Probs: []float64{1, 0}}} },
			"a limit":       func(r *evaluate.Release) { r.Answers[1].Estimate.Interval[0] -= 0.01 },
			"no sums":       func(r *evaluate.Release) { r.Diagnostics["learning"] = []any{} },
		})
	}
}

// What cannot be learned is refused by name.
func TestLearningRefuses(t *testing.T) {
	w := trialWorlds()[0]
	for words, c := range map[string]struct {
		method evaluate.DPLearn
		change func(*evaluate.Public)
	}{
		"stands for the policy that is learned": {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Target = policy.Logged{} }},
		"trees are learned for one":             {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Horizon, p.OneDecision = 3, false }},
		"2 to 8":                                {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Target, _ = policy.NewUniform(9) }},
		"depth is 4":                            {evaluate.DPLearn{Depth: 4}, nil},
		"want tree or linear":                   {evaluate.DPLearn{Rule: "forest"}, nil},
		"the rule is linear; leave them out":    {evaluate.DPLearn{Rule: "linear", Bins: 4}, nil},
		"a limit on trees and tables":           {evaluate.DPLearn{Rule: "linear", Never: []evaluate.Forbidden{{Column: "obs_a", Above: new(float64)}}}, nil},
		"an episode has one; leave it out":      {evaluate.DPLearn{Stationary: true}, nil},
		"share is 1":                            {evaluate.DPLearn{Share: 1}, nil},
		"want both":                             {evaluate.DPLearn{Share: 0.0001}, nil},
		"leave them out": {evaluate.DPLearn{Depth: 2}, func(p *evaluate.Public) {
			p.Features, _ = feature.NewTabular(3, "obs_state")
		}},
		"without intercept": {evaluate.DPLearn{}, func(p *evaluate.Public) {
			p.Features, _ = feature.NewColumns([]string{"obs_a"}, []feature.Range{{Low: 0, High: 1}}, feature.ColumnsOptions{Intercept: true})
		}},
		"one answer for all": {evaluate.DPLearn{}, func(p *evaluate.Public) {
			p.By = &evaluate.Groups{Column: "x", Of: []evaluate.Group{{Name: "a"}, {Name: "b", Number: 1}}}
		}},
	} {
		p := w.public(1000, 1, dp.ReplaceOne)
		if c.change != nil {
			c.change(&p)
		}
		if _, err := c.method.Plan(p); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("want %q; got %v", words, err)
		}
	}
}
