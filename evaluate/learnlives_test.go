package evaluate_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

// What is certified of a rule for times is at most what it is worth, though censoring differs between arms, and the rule
// gains most of what can be gained.
func TestCertificatesOfLivesHold(t *testing.T) {
	for _, w := range lifeWorlds() {
		high, highLogged, gained := 0, 0, 0.0
		for log := range uint64(learnDraws) {
			adjacency := dp.ReplaceOne
			if log%3 == 0 {
				adjacency = dp.AddRemoveOne
			}
			_, r := released(t, w.learner(), w.public(4000, 1, adjacency), w.draw(4000, log), log)
			rule, arms, logged, best := w.worth(r.Learned.Policy)
			top := slices.Max(arms)
			if r.Learned.OverConstant > rule-top+1e-9 {
				high++
			}
			if r.Learned.OverLogged > rule-logged+1e-9 {
				highLogged++
			}
			if best > top+1e-9 {
				gained += (rule - logged) / (best - logged) / learnDraws
			}
		}
		if most := int(0.05*learnDraws + 4*math.Sqrt(0.05*0.95*learnDraws) + 1); high > most || highLogged > most {
			t.Errorf("%s: too high over the best constant in %d of %d, over the logged policy in %d", w.name, high, learnDraws, highLogged)
		}
		if gained < 0.8 && w.name != "no arm is better anywhere" {
			t.Errorf("%s: the rule gains %.2f of what the best one does", w.name, gained)
		}
	}
}

// Where half of those with an event in the second arm leave just before it, curves are wrong, and what is certified for any
// censoring is at most what the rule is worth.
func TestCertificatesHoldForAnyCensoring(t *testing.T) {
	w := lifeWorlds()[4] // no arm is better
	d := w.draw(20000, 3)
	for i, arm := range d.Action {
		if at := i*len(d.Columns) + len(d.Columns) - 1; arm == 1 && i%2 == 0 && d.Obs[at] == 1 {
			d.Obs[at], d.Reward[i] = 0, d.Reward[i]*0.99
		}
	}
	p := w.public(20000, 5, dp.ReplaceOne)
	_, wrong := released(t, w.learner(), p, d, 1)
	p.Outcome.Censoring = "any"
	plan, r := released(t, w.learner(), p, d, 1)
	if wrong.Learned.OverLogged < 0.01 || r.Learned.OverLogged > 0 || r.Learned.OverConstant > 0 {
		t.Errorf("certified are %v of curves, which are wrong, and %v, %v of limits; nothing is gained", wrong.Learned.OverLogged, r.Learned.OverLogged, r.Learned.OverConstant)
	}
	if plan.Facts["form"] != "limits" || plan.Verify(r) != nil {
		t.Errorf("form %v, %v", plan.Facts["form"], plan.Verify(r))
	}
}

// Rule and certificates follow from the sums, also where outcomes are missing.
func TestARuleForLivesFollowsFromItsCells(t *testing.T) {
	for _, w := range []lifeWorld{lifeWorlds()[0], lifeWorlds()[2], lifeWorlds()[3]} {
		p, d := w.public(2000, 1, dp.AddRemoveOne), w.draw(2000, 1)
		p.Complete = false
		for i := range 40 {
			d.Reward[i] = -1
		}
		plan, r := released(t, w.learner(), p, d, 5)
		if plan.Epsilon.Upper > 1 || plan.Epsilon.Upper < 0.99 {
			t.Errorf("epsilon %v; want the budget's", plan.Epsilon)
		}
		editsAreRefused(t, plan, r, map[string]func(*evaluate.Release){
			"a certificate": func(r *evaluate.Release) { r.Learned.OverConstant += 0.01 },
			"the rule":      func(r *evaluate.Release) { r.Learned.Policy.Inputs = nil },
			"no cells":      func(r *evaluate.Release) { r.Diagnostics["cells"] = []any{} },
			"the missing": func(r *evaluate.Release) {
				cells := r.Diagnostics["cells"].([]any)
				cells[len(cells)-1] = cells[len(cells)-1].(float64) + 40
			},
		})
	}
}

// The counts have the noise that is expected to be narrowest, whatever is said of the draws: Gaussian with many bins or hardly any
// budget. Plans follow from their releases.
func TestCountsOfLivesHaveNoiseOfTheirOwn(t *testing.T) {
	w := lifeWorlds()[0]
	for _, c := range []struct {
		bins    int
		epsilon float64
		want    string
	}{{64, 1, "gaussian"}, {8, 0.001, "gaussian"}, {8, 1, "discrete_laplace"}} {
		for _, family := range []evaluate.NoiseFamily{"", evaluate.LaplaceNoise} {
			p := w.public(2000, c.epsilon, dp.ReplaceOne)
			p.Privacy.NoiseFamily, p.Outcome.Ends = family, nil
			for j := range c.bins {
				p.Outcome.Ends = append(p.Outcome.Ends, float64(j+1)/float64(c.bins))
			}
			plan, r := released(t, w.learner(), p, w.draw(2000, 1), 5)
			if err := plan.Verify(r); err != nil {
				t.Errorf("%+v %s: %v", c, family, err)
			}
			again, err := evaluate.Replan(r, p.Features, p.Labels)
			if err == nil {
				err = again.Verify(r)
			}
			if err != nil {
				t.Errorf("%+v %s, planned again: %v", c, family, err)
			}
			kinds := r.Disclosure.Mechanisms
			if last := kinds[len(kinds)-1].Kind; (c.want == "gaussian") != (last == "gaussian") {
				t.Errorf("%+v %s: mechanisms %v; want counts by %s", c, family, kinds, c.want)
			}
		}
	}
}

// What cannot be learned of times is refused by name, before anything is spent.
func TestLearningOfLivesRefuses(t *testing.T) {
	w := lifeWorlds()[0]
	for words, c := range map[string]struct {
		method evaluate.DPLearn
		change func(*evaluate.Public)
	}{
		"kind: uniform, actions: 2": {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Design = nil }},
		"the same for all":          {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Design.Varies = true }},
		"max_weight caps":           {evaluate.DPLearn{MaxWeight: 2}, nil},
		"one of features":           {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Outcome.Strata = &evaluate.Strata{Column: "x", Values: []float64{0, 1}} }},
		"name the columns time": {evaluate.DPLearn{}, func(p *evaluate.Public) {
			p.Outcome = &evaluate.Outcome{Causes: []evaluate.Cause{{Name: "end", Number: 1}}, Ends: []float64{1}}
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
	plan, err := evaluate.DPLearn{}.Plan(w.public(2000, 1, dp.ReplaceOne))
	if err != nil {
		t.Fatal(err)
	}
	d := w.draw(2000, 1)
	d.Reward[7] = -1
	if _, err := plan.Check(t.Context(), d); err == nil || !strings.Contains(err.Error(), "the outcome of 1 persons cannot be used") {
		t.Errorf("a time below 0 in complete data: %v", err)
	}
}
