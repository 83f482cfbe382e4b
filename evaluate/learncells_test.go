package evaluate_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// clinic is a log of twelve states in which nobody wrote down how the action was chosen: by state, with probabilities
// that favour one that is worse.
func clinic() trialWorld {
	return trialWorld{"a clinic", 0, []float64{0.5, 0.5}, func(x []float64, arm int) float64 {
		s := int(x[0]) / 2
		if (s%3 == 0) == (arm == 0) {
			return 0.35 + 0.05*float64(s)
		}
		return 0.6 + 0.02*float64(s)
	}, 0}
}

// taken is the probability of the second action in a state.
func taken(state float64) float64 {
	if int(state)/2%3 == 0 {
		return 0.35
	}
	return 0.25
}

func clinicLog(w trialWorld, persons int, seed uint64) *trajectory.Dataset {
	r := rand.New(rand.NewPCG(seed, 14))
	d := &trajectory.Dataset{Columns: w.names(), PersonStart: []int{0}, EpisodeStart: []int{0}}
	for range persons {
		x, arm, reward := w.point(r), int32(0), 0.0
		if r.Float64() < taken(x[0]) {
			arm = 1
		}
		if r.Float64() < w.success(x, int(arm)) {
			reward = 1
		}
		d.Obs, d.Action, d.Reward = append(d.Obs, x...), append(d.Action, arm), append(d.Reward, reward)
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, len(d.Reward)), append(d.PersonStart, len(d.Reward))
	}
	d.Terminated = slices.Repeat([]bool{true}, persons)
	return d
}

func clinicFacts(w trialWorld, persons int, epsilon float64, adjacency dp.Adjacency) evaluate.Public {
	p := w.public(persons, epsilon, adjacency)
	p.Design, p.Complete = nil, false
	p.Behavior = &evaluate.EstimatedBehavior{States: learnStates, Column: "obs_state", Actions: 2}
	return p
}

// worthInClinic are the rule, the better constant action, the logged policy and the best rule.
func worthInClinic(w trialWorld, f evaluate.PolicyFile) (rule, constant, logged, best float64) {
	var arms [2]float64
	for s := range learnStates {
		x := []float64{float64(s)}
		a, b := w.success(x, 0)/learnStates, w.success(x, 1)/learnStates
		arms[0], arms[1] = arms[0]+a, arms[1]+b
		logged += a*(1-taken(x[0])) + b*taken(x[0])
		best += max(a, b)
		rule += []float64{a, b}[followed(f, x, w.names())]
	}
	return rule, max(arms[0], arms[1]), logged, best
}

// What is certified where probabilities are estimated is at most what the rule is worth, and the rule gains most of what can
// be gained.
func TestCertificatesByCellHold(t *testing.T) {
	w, high, highLogged, gained, shown := clinic(), 0, 0, 0.0, 0
	for log := range uint64(4 * learnDraws) {
		adjacency := []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}[log%2]
		_, r := released(t, evaluate.DPLearn{}, clinicFacts(w, 8000, 1, adjacency), clinicLog(w, 8000, log), log)
		rule, constant, logged, best := worthInClinic(w, r.Learned.Policy)
		if r.Learned.OverConstant > rule-constant+1e-9 {
			high++
		}
		if r.Learned.OverLogged > rule-logged+1e-9 {
			highLogged++
		}
		if r.Learned.OverLogged > 0 {
			shown++
		}
		gained += (rule - logged) / (best - logged) / (4 * learnDraws)
	}
	if most := int(0.05*4*learnDraws + 4*math.Sqrt(0.05*0.95*4*learnDraws) + 1); high > most || highLogged > most || gained < 0.9 || shown < 3*learnDraws {
		t.Errorf("too high over the best constant in %d of %d, over the logged policy in %d; the rule gains %.2f, shown in %d", high, 4*learnDraws, highLogged, gained, shown)
	}
}

// Rule and certificates follow from the masses of both halves.
func TestARuleByCellFollowsFromItsMasses(t *testing.T) {
	w := clinic()
	plan, r := released(t, evaluate.DPLearn{}, clinicFacts(w, 8000, 1, dp.AddRemoveOne), clinicLog(w, 8000, 1), 5)
	if plan.Epsilon.Upper > 1 || plan.Epsilon.Upper < 0.99 {
		t.Errorf("epsilon %v; want the budget's", plan.Epsilon)
	}
	editsAreRefused(t, plan, r, map[string]func(*evaluate.Release){
		"a certificate": func(r *evaluate.Release) { r.Learned.OverLogged += 0.01 },
		"a limit":       func(r *evaluate.Release) { r.Answers[1].Estimate.Interval[0] -= 0.01 },
		"no masses":     func(r *evaluate.Release) { delete(r.Diagnostics, "masses_by_cell") },
		"the rule's masses": func(r *evaluate.Release) {
			masses := r.Diagnostics["learning"].([]any)[0].([]any)
			masses[0] = masses[0].(float64) + 4000
		},
	})
}

// What cannot be learned with estimated probabilities is refused by name.
func TestLearningByCellRefuses(t *testing.T) {
	w := clinic()
	for words, c := range map[string]struct {
		method evaluate.DPLearn
		change func(*evaluate.Public)
	}{
		"the same states and column": {evaluate.DPLearn{}, func(p *evaluate.Public) {
			p.Features, _ = feature.NewColumns([]string{"obs_a"}, []feature.Range{{Low: 0, High: 1}}, feature.ColumnsOptions{})
		}},
		"give the same number":       {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Behavior.Actions = 3 }},
		"for recorded probabilities": {evaluate.DPLearn{Budget: 0.3}, nil},
		"take fewer cells":           {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Persons = 300 }},
	} {
		p := clinicFacts(w, 8000, 1, dp.ReplaceOne)
		if c.change != nil {
			c.change(&p)
		}
		if _, err := c.method.Plan(p); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("want %q; got %v", words, err)
		}
	}
}
