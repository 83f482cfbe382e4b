package evaluate_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
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
		if err := plan.Verify(r); err != nil {
			t.Error(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		editsAreRefused(t, plan, text, map[string]func(*evaluate.Release){
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
	few := blur(w.public(600, 5), false)
	if math.Abs(few/first-10) > 1e-9 {
		t.Errorf("noise hides %v, and of ten times the persons %v; want ten times as much", few, first)
	}
	p := w.public(6000, 5)
	p.Return = &evaluate.Range{Min: 0, Max: 1} // of up to 9
	if paid := blur(p, false); math.Abs(paid/first-9) > 1e-9 {
		t.Errorf("noise hides %v, and where returns lie nine times nearer %v; want nine times as much", first, paid)
	}
}
