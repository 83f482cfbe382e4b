package evaluate_test

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// stairs are a process whose reward is at the top: on every stair one of three actions leads up,
// and each of the others pays a little. Few of those who act at random see the top.
func stairs() process {
	w := process{name: "stairs", states: 7, actions: 3, horizon: 9, start: []float64{0.4, 0.4, 0.2, 0, 0, 0, 0}}
	for s := range w.states {
		var next [][]float64
		var reward []float64
		for a := range w.actions {
			up, down, pays := 0.2, 0.6, 0.05
			if a == s%3 {
				up, down, pays = 0.7, 0.1, 0
			}
			if s == w.states-1 {
				pays = 0.8
			}
			p := make([]float64, w.states)
			p[min(s+1, w.states-1)] += up
			p[max(s-1, 0)] += down
			p[s] += 1 - up - down
			next, reward = append(next, p), append(reward, pays)
		}
		w.next, w.reward = append(w.next, next), append(w.reward, reward)
	}
	return w
}

// Where noise hides little of what follows, the policy is more than one improvement of the logged
// one, which gains a quarter on these stairs: 0.83 can be had by a table of states.
func TestAPolicyIsTheBestInAModel(t *testing.T) {
	w, gained := stairs(), 0.0
	for log := range uint64(3) {
		plan, r := released(t, evaluate.DPLearn{}, w.public(6000, 100), w.draw(6000, log), log)
		gained += w.recovered(r.Learned.Policy) / 3
		if worth := w.worth(&r.Learned.Policy, false) - w.worth(nil, false); r.Learned.OverLogged > worth {
			t.Errorf("certified %v; it gains %v", r.Learned.OverLogged, worth)
		}
		editsAreRefused(t, plan, r, map[string]func(*evaluate.Release){
			"fewer sums": func(r *evaluate.Release) {
				r.Diagnostics["learning"] = [][]float64{make([]float64, 10)}
			},
			"other sums": func(r *evaluate.Release) {
				r.Diagnostics["learning"] = [][]float64{make([]float64, plan.Facts["coordinates"].(int))}
			},
		})
	}
	if gained < 0.75 {
		t.Errorf("%.2f of the gain", gained)
	}
}

// The queue is best worked off until few decisions are left. With hardly any noise the policy is the best by
// backward induction in all but near ties, while the best table of states, of all there are, gains .7; limits hold
// at every decision; and the certificate is of the policy as its file says.
func TestAPolicyTellsDecisionsApart(t *testing.T) {
	w, table := queue(), 0.0
	for i := range 1 << w.states {
		of := make([]float64, w.states)
		for s := range of {
			of[s] = float64(i >> s & 1)
		}
		table = max(table, w.recovered(tableFile(of)))
	}
	if table < 0.65 || table > 0.72 {
		t.Errorf("a table of states gains up to %.3f; want about .7", table)
	}
	for i, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := w.public(20000, 5000)
		p.Privacy.Adjacency = adjacency
		data := w.draw(20000, uint64(i))
		plan, r := released(t, evaluate.DPLearn{}, p, data, uint64(i))
		f := r.Learned.Policy
		if gained := w.recovered(f); gained < 0.99 {
			t.Errorf("%.3f of the gain; want .99", gained)
		}
		if worth := w.worth(&f, false) - w.worth(nil, false); r.Learned.OverLogged > worth {
			t.Errorf("certified %v; it gains %v", r.Learned.OverLogged, worth)
		}
		if err := plan.Verify(r); err != nil {
			t.Error(err)
		}
		_, same := released(t, evaluate.DPLearn{Stationary: true}, p, data, uint64(i))
		if gained := w.recovered(same.Learned.Policy); gained > table+1e-9 || gained < table-0.01 {
			t.Errorf("stationary it gains %.3f; want %.3f", gained, table)
		}
		_, kept := released(t, evaluate.DPLearn{Monotone: map[string]string{"obs_state": "up"}, Never: []evaluate.Forbidden{{Action: 1, Column: "obs_state", AtMost: new(float64(2))}}}, p, data, uint64(i))
		for step := range w.horizon {
			before := 0
			for s := range w.states {
				a := followed(kept.Learned.Policy, []float64{float64(s), float64(step)}, []string{"obs_state", "step"})
				if a < before || a == 1 && s <= 2 {
					t.Errorf("action %d in state %d at step %d, after %d", a, s, step, before)
				}
				before = a
			}
		}
	}
}

// A policy that asks for the decision has no value by state, and every method that makes one refuses it by name.
func TestPoliciesByStepHaveNoValueByState(t *testing.T) {
	at, w := 0.5, queue()
	byStep, err := policy.NewTree([]string{"obs_state"}, []policy.Node{{Step: true, Threshold: &at, Left: 1, Right: 2}, {Probs: []float64{1, 0}}, {Probs: []float64{0, 1}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range evaluate.Methods() {
		p := w.public(1000, 1)
		p.Target, p.Design = byStep, nil
		if !m.Private {
			p.Privacy = nil
		}
		e, err := evaluate.New(m.Name, nil)
		if err != nil || m.Learns || m.NeedArms || m.NeedOutcome {
			continue
		}
		_, err = e.Plan(p)
		if refused := err != nil && strings.Contains(err.Error(), "asks for the number of the decision"); refused != (m.NeedFeatures || m.Name == "auto") {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

// tableFile is the policy of a table of states, of two actions.
func tableFile(of []float64) evaluate.PolicyFile {
	var f evaluate.PolicyFile
	for s := range of[1:] {
		at := float64(s)
		f.Nodes = append(f.Nodes, policy.Node{Input: "obs_state", Threshold: &at, Left: 2*s + 1, Right: 2*s + 2}, policy.Node{Probs: []float64{1 - of[s], of[s]}})
	}
	last := of[len(of)-1]
	return evaluate.PolicyFile{Nodes: append(f.Nodes, policy.Node{Probs: []float64{1 - last, last}})}
}

// Where all episodes are cut off more follows than the horizon has, and of very many decisions a file would be
// long: there, and where that is asked for, a policy is the same at all decisions, and the plan says so.
func TestThePlanSaysWhetherDecisionsAreToldApart(t *testing.T) {
	w := stairs()
	for name, c := range map[string]struct {
		method evaluate.DPLearn
		change func(*evaluate.Public)
		apart  bool
	}{
		"plain":      {evaluate.DPLearn{}, func(*evaluate.Public) {}, true},
		"stationary": {evaluate.DPLearn{Stationary: true}, func(*evaluate.Public) {}, false},
		"cut off":    {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Labels = map[string]any{"end": "truncated"} }, false},
		"long":       {evaluate.DPLearn{}, func(p *evaluate.Public) { p.Horizon, p.Persons = 600, 90000 }, false},
	} {
		p := w.public(6000, 100)
		c.change(&p)
		plan, err := c.method.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan.Notes, " ")
		if strings.Contains(text, "each number of decisions left") != c.apart || strings.Contains(text, "the same at all decisions") == c.apart {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// The plan says which of the two a policy is, and public facts decide it: persons, budget and states,
// and how far returns lie apart.
func TestThePlanSaysWhatAPolicyIsMadeOf(t *testing.T) {
	w := stairs()
	blur := func(p evaluate.Public, model bool) float64 {
		t.Helper()
		plan, err := evaluate.DPLearn{}.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan.Notes, " ")
		if _, counts := plan.Facts["coordinates"]; counts != model || strings.Contains(text, "the best in a model of what follows each action") != model || strings.Contains(text, "is one improvement") == model {
			t.Errorf("a table of what follows: %v, and %q; want %v", counts, text, model)
		}
		return plan.Facts["blur"].(float64)
	}
	first := blur(w.public(6000, 5), true)
	few := blur(w.public(400, 5), false)
	if math.Abs(few/first-15) > 1e-9 {
		t.Errorf("noise hides %v, and of fifteen times the persons %v; want fifteen times as much", few, first)
	}
	p := w.public(6000, 5)
	p.Return = &evaluate.Range{Min: 0, Max: 0.5} // of up to 9
	if paid := blur(p, false); math.Abs(paid/first-18) > 1e-9 {
		t.Errorf("noise hides %v, and where returns lie 18 times nearer %v; want 18 times as much", first, paid)
	}
}

// A quarter of the persons is learned from where noise and chance hide little of it and the others can certify.
func TestFewerAreLearnedFromWhereThatIsEnough(t *testing.T) {
	short := random("short", 5, 2, 4, 3)
	long := short
	long.horizon = 14
	p, uncertified := short.public(6000, 5), long.public(6000, 5)
	uncertified.Features = p.Features
	recorded := p
	recorded.Design = nil
	for name, c := range map[string]struct {
		p    evaluate.Public
		m    evaluate.DPLearn
		want int64
	}{
		"enough":                      {p, evaluate.DPLearn{}, 1500},
		"asked for":                   {p, evaluate.DPLearn{Share: 0.5}, 3000},
		"much noise":                  {short.public(6000, 0.5), evaluate.DPLearn{}, 3000},
		"nobody follows fourteen":     {uncertified, evaluate.DPLearn{}, 3000},
		"weights that no design says": {recorded, evaluate.DPLearn{}, 3000},
	} {
		if got := must(c.m.Plan(c.p)).Facts["learned_from"]; got != c.want {
			t.Errorf("%s: %v are learned from, want %d", name, got, c.want)
		}
	}
}
