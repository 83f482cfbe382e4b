package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// A tree that asks for the step acts by the number of the decision in its own episode, from 0, alone or beside
// columns, and in a forest.
func TestTreesAskForTheDecision(t *testing.T) {
	const leaves = `{"probs": [1, 0]}, {"probs": [0.25, 0.75]}]`
	d := &trajectory.Dataset{
		Columns: []string{"obs_x"}, PersonStart: []int{0, 2}, EpisodeStart: []int{0, 2, 5},
		Obs: []float64{1, 1, 1, 1, 9}, Action: []int32{1, 1, 1, 0, 1}, Reward: make([]float64, 5), BehaviorProb: slices.Repeat([]float64{0.5}, 5),
	}
	step := `"nodes": [{"step": true, "threshold": 0.5, "left": 1, "right": 2}, ` + leaves
	for file, want := range map[string][]float64{
		`{"kind": "tree", "inputs": ["obs_x"], "precision": "float64", ` + step + `}`:                              {0, 1.5, 0, 0.5, 1.5},
		`{"kind": "tree", "inputs": ["obs_x"], "precision": "float32", ` + step + `}`:                              {0, 1.5, 0, 0.5, 1.5},
		`{"kind": "tree", "inputs": ["obs_x"], "precision": "float64", "trees": [{` + step + `}, {` + step + `}]}`: {0, 1.5, 0, 0.5, 1.5},
		`{"kind": "tree", "inputs": ["obs_x"], "precision": "float64", "nodes": [{"input": "obs_x", "threshold": 5, "left": 1, "right": 2}, {"probs": [1, 0]}, {"step": true, "threshold": 1.5, "left": 3, "right": 4}, ` + leaves + `}`: {0, 0, 0, 2, 1.5},
	} {
		p := must(policy.ReadTree(strings.NewReader(file), "pi.json"))
		got := make([]float64, d.Rows())
		if err := policy.CheckedRatios(got, p, d); err != nil || !slices.Equal(got, want) {
			t.Errorf("ratios %v, %v; want %v\n%s", got, err, want, file)
		}
		if !p.(interface{ ReadsStep() bool }).ReadsStep() {
			t.Errorf("it does not say so\n%s", file)
		}
	}
	for _, asked := range []string{`"step": true, "input": "obs_x"`, `"input": "step"`, `"step": false`} {
		if _, err := policy.ReadTree(strings.NewReader(`{"kind": "tree", "inputs": ["obs_x"], "precision": "float64", "nodes": [{`+asked+`, "threshold": 0.5, "left": 1, "right": 2}, `+leaves+`}`), "pi.json"); err == nil {
			t.Errorf("a question of %s is read", asked)
		}
	}
}
