package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// A tree that asks for step acts by the number of the decision in its own episode, from 0, alone or beside
// columns and in a forest, and reads no column for it.
func TestTreesAskForTheDecision(t *testing.T) {
	const leaves = `{"probs": [1, 0]}, {"probs": [0.25, 0.75]}]`
	d := &trajectory.Dataset{
		Columns: []string{"obs_x"}, PersonStart: []int{0, 2}, EpisodeStart: []int{0, 2, 5},
		Obs: []float64{1, 1, 1, 1, 9}, Action: []int32{1, 1, 1, 0, 1}, Reward: make([]float64, 5), BehaviorProb: slices.Repeat([]float64{0.5}, 5),
	}
	step := `"nodes": [{"input": "step", "threshold": 0.5, "left": 1, "right": 2}, ` + leaves
	for file, want := range map[string][]float64{
		`{"kind": "tree", "inputs": ["step"], "precision": "float64", ` + step + `}`:                                                                                 {0, 1.5, 0, 0.5, 1.5},
		`{"kind": "tree", "inputs": ["step", "obs_x"], "precision": "float32", ` + step + `}`:                                                                        {0, 1.5, 0, 0.5, 1.5},
		`{"kind": "tree", "inputs": ["obs_x", "step"], "precision": "float64", "trees": [{` + step + `}, {` + step + `}]}`:                                           {0, 1.5, 0, 0.5, 1.5},
		`{"kind": "tree", "inputs": ["step", "obs_x"], "precision": "float64", "nodes": [{"input": "obs_x", "threshold": 5, "left": 1, "right": 2}, ` + leaves + `}`: {0, 0, 0, 2, 1.5},
	} {
		p := must(policy.ReadTree(strings.NewReader(file), "pi.json"))
		got := make([]float64, d.Rows())
		if err := policy.CheckedRatios(got, p, d); err != nil || !slices.Equal(got, want) {
			t.Errorf("ratios %v, %v; want %v\n%s", got, err, want, file)
		}
		if columns := p.(interface{ Columns() []string }).Columns(); slices.Contains(columns, "step") || !p.(interface{ ReadsStep() bool }).ReadsStep() {
			t.Errorf("it reads %v\n%s", columns, file)
		}
	}
	for _, inputs := range []string{`["step", "step"]`, `[]`} {
		if _, err := policy.ReadTree(strings.NewReader(`{"kind": "tree", "inputs": `+inputs+`, "precision": "float64", `+step+`}`), "pi.json"); err == nil {
			t.Errorf("inputs %s are read", inputs)
		}
	}
}
