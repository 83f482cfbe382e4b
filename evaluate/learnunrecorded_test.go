package evaluate_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

// random is a process of two successors.
func random(name string, states, actions, horizon int, seed uint64) process {
	r := rand.New(rand.NewPCG(seed, seed))
	w := process{name: name, states: states, actions: actions, horizon: horizon, start: slices.Repeat([]float64{1 / float64(states)}, states)}
	for range states {
		var next [][]float64
		var reward []float64
		for range actions {
			p, u := make([]float64, states), r.Float64()
			p[r.IntN(states)] += u
			p[r.IntN(states)] += 1 - u
			next, reward = append(next, p), append(reward, r.Float64()*r.Float64())
		}
		w.next, w.reward = append(w.next, next), append(w.reward, reward)
	}
	return w
}

// unrecorded is a process whose logged policy nobody wrote down: it favours some actions by state, with probabilities that lie
// up to three times apart.
func (w process) unrecorded(seed uint64) process {
	r := rand.New(rand.NewPCG(seed, 9))
	w.logs = nil
	for range w.states {
		probs, total := make([]float64, w.actions), 0.0
		for a := range probs {
			probs[a] = 1 + 2*r.Float64()
			total += probs[a]
		}
		for a := range probs {
			probs[a] /= total
		}
		w.logs = append(w.logs, probs)
	}
	return w
}

// withheld are the facts where the probabilities are estimated.
func (w process) withheld(persons int, epsilon float64) evaluate.Public {
	p := w.public(persons, epsilon)
	p.Design, p.Complete = nil, false
	p.Behavior = &evaluate.EstimatedBehavior{States: w.states, Column: "obs_state", Actions: w.actions}
	return p
}

// short is a process of three decisions.
func short() process { return random("garnet, 5 x 2, 3 decisions", 5, 2, 3, 6).unrecorded(1) }

// What is certified of several decisions whose probabilities nobody wrote down is at most what the rule is worth, and the rule gains
// most of what can be gained.
func TestCertificatesOfUnrecordedDecisionsHold(t *testing.T) {
	w, high, shown, gained := short(), 0, 0, 0.0
	for log := range uint64(2 * learnDraws) {
		p := w.withheld(20000, 2)
		p.Privacy.Adjacency = []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}[log%2]
		_, r := released(t, evaluate.DPLearn{}, p, bare(w.draw(20000, log)), log)
		rule, logged := w.worth(&r.Learned.Policy, false), w.worth(nil, false)
		if r.Learned.OverConstant > rule-w.top()+1e-9 || r.Learned.OverLogged > rule-logged+1e-9 {
			high++
		}
		if r.Learned.OverLogged > 0 {
			shown++
		}
		gained += w.recovered(r.Learned.Policy) / (2 * learnDraws)
	}
	if most := int(0.1*2*learnDraws + 4*math.Sqrt(0.1*0.9*2*learnDraws)); high > most || gained < 0.95 || 2*shown < 3*learnDraws {
		t.Errorf("too high in %d of %d; the rule gains %.2f, shown in %d", high, 2*learnDraws, gained, shown)
	}
}

// Where noise hides little the rule follows from what came after each action, and rests on no probability: it is that of the
// same logs with the probabilities, from the same noise.
func TestARuleOfUnrecordedDecisionsIsThatOfRecordedOnes(t *testing.T) {
	w, of := short(), [2]*evaluate.Release{}
	recorded := w.public(8000, 2)
	recorded.Design = nil
	for i, p := range []evaluate.Public{recorded, w.withheld(8000, 2)} {
		d := w.draw(8000, 3)
		if i == 1 {
			d = bare(d)
		}
		_, of[i] = released(t, evaluate.DPLearn{}, p, d, 4)
	}
	if !reflect.DeepEqual(of[0].Diagnostics["learning"], of[1].Diagnostics["learning"]) || !reflect.DeepEqual(of[0].Learned.Policy, of[1].Learned.Policy) {
		t.Error("the rules differ")
	}
	if of[1].Learned.OverLogged >= of[0].Learned.OverLogged {
		t.Errorf("certified %v without the probabilities, and %v with them", of[1].Learned.OverLogged, of[0].Learned.OverLogged)
	}
}

// Rule, limits of probabilities and certificates follow from noisy sums.
func TestARuleOfUnrecordedDecisionsFollowsFromItsSums(t *testing.T) {
	w := short()
	p := w.withheld(8000, 2)
	p.Behavior.States, p.Behavior.Column, p.Behavior.Share = 0, "", 0.3 // one cell, if the logged policy did not look
	w.logs = nil
	plan, r := released(t, evaluate.DPLearn{}, p, bare(w.draw(8000, 1)), 5)
	if plan.Epsilon.Upper > 2 || plan.Epsilon.Upper < 1.999 {
		t.Errorf("epsilon %v; want the budget's", plan.Epsilon)
	}
	editsAreRefused(t, plan, r, map[string]func(*evaluate.Release){
		"a certificate": func(r *evaluate.Release) { r.Learned.OverLogged += 0.01 },
		"a limit":       func(r *evaluate.Release) { r.Answers[1].Estimate.Interval[0] -= 0.01 },
		"no counts":     func(r *evaluate.Release) { delete(r.Diagnostics, "behavior") },
		"upper limits": func(r *evaluate.Release) {
			r.Diagnostics["behavior"].(map[string]any)["upper"] = [][]float64{{0.5, 0.5}}
		},
		"sums of the rule": func(r *evaluate.Release) {
			r.Diagnostics["learning"] = [][]float64{make([]float64, plan.Facts["coordinates"].(int))}
		},
	})
}

// Where noise would hide what follows each action, and where a table is of no numbered states, nothing is learned, and the plan says
// what would help.
func TestUnrecordedDecisionsThatNoiseHidesAreRefused(t *testing.T) {
	w := short()
	for name, c := range map[string]struct {
		persons int
		change  func(*evaluate.Public)
		words   string
	}{
		"few persons":               {150, func(*evaluate.Public) {}, "take more persons, a larger epsilon or fewer states, or record the probabilities"},
		"episodes of one decision":  {8000, func(p *evaluate.Public) { p.OneDecision, p.Episodes = true, 3 }, "take more persons"},
		"another number of actions": {8000, func(p *evaluate.Public) { p.Behavior.Actions = 3 }, "give the same number"},
	} {
		p := w.withheld(c.persons, 2)
		c.change(&p)
		if _, err := (evaluate.DPLearn{}).Plan(p); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v; want %q", name, err, c.words)
		}
	}
	d := bare(w.draw(8000, 1))
	d.Action = nil
	plan, err := evaluate.DPLearn{}.Plan(w.withheld(8000, 2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Check(t.Context(), d); err == nil || !strings.Contains(err.Error(), "map the column that holds them") {
		t.Errorf("without actions: %v", err)
	}
}
