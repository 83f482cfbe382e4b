package discreet_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
)

// A policy that asks for the decision is worth the same as its probabilities in a column, wherever the rows
// stand: in order, the episodes of a person apart, or each step by itself, to be sorted.
func TestAPolicyByStepIsItsColumn(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const header = "unit_id,episode_id,step,obs_x,action,behavior_prob,target_prob,reward,terminated\n"
	var sorted, apart, steps [4]strings.Builder
	for person := range 200 {
		for episode := range 1 + person%2 {
			for step := range 1 + r.IntN(4) {
				x, action := r.IntN(2), r.IntN(2)
				one := []float64{0.1, 0.8, 0.35}[min(step, 1)*(1+x)] // the probability of action 1
				row := fmt.Sprintf("u%d,e%d-%d,%d,%d,%d,0.5,%v,%d,%t\n", person, person, episode, step, x, action, math.Abs(float64(1-action)-one), r.IntN(2), step > 2)
				sorted[0].WriteString(row)
				apart[episode].WriteString(row)
				steps[step].WriteString(row)
			}
		}
	}
	for name, parts := range map[string][4]strings.Builder{"sorted.csv": sorted, "apart.csv": apart, "steps.csv": steps} {
		write(name, header+parts[0].String()+parts[1].String()+parts[2].String()+parts[3].String())
	}
	write("step.json", `{"kind": "tree", "inputs": ["obs_x"], "precision": "float64", "nodes": [{"step": true, "threshold": 0.5, "left": 1, "right": 2},
		{"probs": [0.9, 0.1]}, {"input": "obs_x", "threshold": 0.5, "left": 3, "right": 4}, {"probs": [0.2, 0.8]}, {"probs": [0.65, 0.35]}]}`)
	value := func(data, target, method, privacy string) float64 {
		t.Helper()
		c, err := discreet.Parse("step.yaml", []byte("data: {path: "+data+", behavior: {source: logged}}\nproblem: {persons: 200, gamma: 1, reward: {min: 0, max: 1}, horizon: 8, episodes: 2, episode_horizon: 4}\n"+
			"target: "+target+"\nmethod: {name: "+method+"}\nprivacy: "+privacy+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		c.Dir = dir
		result, err := discreet.Evaluate(context.Background(), c, discreet.WithSource(noise.NewSeeded(1)))
		if err != nil {
			t.Fatal(err)
		}
		return result.Release.Answers[0].Estimate.Value
	}
	const tree, column, private = "{kind: tree, path: step.json}", "{kind: column, name: target_prob}", "{adjacency: replace_one, epsilon: 1e6, delta: 1e-5}"
	for method, privacy := range map[string]string{"pdis": "none", "dp-pdis": private, "dp-is": private} {
		want := value("sorted.csv", column, method, privacy)
		for _, data := range []string{"sorted.csv", "apart.csv", "steps.csv, steps: {sort: true}"} {
			if got := value(data, tree, method, privacy); math.Abs(got-want) > 0.01 || privacy == "none" && math.Abs(got-want) > 1e-12 {
				t.Errorf("%s of %s: %v; want %v", method, data, got, want)
			}
		}
	}
}
