package policy_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// observed is one decision with the observation x and the action 1.
func observed(x float64) *trajectory.Dataset {
	return &trajectory.Dataset{
		Columns: []string{"obs_x"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1},
		Obs: []float64{x}, Action: []int32{1}, Reward: []float64{0}, BehaviorProb: []float64{0.5},
	}
}

func TestInputsOfAPolicyAreNotClipped(t *testing.T) {
	inputs := `{"kind": "softmax", "inputs": ["obs_x"], "weights": [[0], [1]], "intercept": [0, -7]}`
	clipped := `{"features": {"kind": "columns", "names": ["obs_x"], "low": [0], "high": [1]}, "clip": true, "weights": [[0], [1]]}`
	for _, c := range []struct {
		file string
		x    float64
		odds float64 // of action 1, on a log scale
	}{{inputs, 9, 2}, {inputs, -3, -10}, {clipped, 9, 1}, {clipped, -3, 0}} {
		p := must(policy.ReadSoftmax(strings.NewReader(c.file), "pi.json"))
		got, ok := must(p.Bind(observed(c.x))).Prob(0)
		if want := 1 / (1 + math.Exp(-c.odds)); !ok || math.Abs(got-want) > 1e-15 {
			t.Errorf("x = %v: %v, %v; want %v\n%s", c.x, got, ok, want, c.file)
		}
	}
}

func TestAFileThatCouldMeanTwoPoliciesIsRefused(t *testing.T) {
	softmax := func(r io.Reader) error { _, err := policy.ReadSoftmax(r, "pi.json"); return err }
	greedy := func(r io.Reader) error { _, err := policy.ReadSoftGreedy(r, "pi.json"); return err }
	tree := func(r io.Reader) error { _, err := policy.ReadTree(r, "pi.json"); return err }
	leaves := `{"probs": [1, 0]}, {"probs": [0, 1]}`
	for name, c := range map[string]struct {
		read       func(io.Reader) error
		text, says string
	}{
		"one row of a binary model":  {softmax, `{"inputs": ["obs_x"], "weights": [[1]], "intercept": [1]}`, "two rows"},
		"intercept among weights":    {softmax, `{"inputs": ["obs_x"], "weights": [[0, 0], [1, 2]]}`, "field of its own"},
		"a range that may clip":      {softmax, `{"features": {"kind": "columns", "names": ["obs_x"], "low": [0], "high": [1]}, "weights": [[0], [1]]}`, `"clip": true`},
		"clip without a range":       {softmax, `{"inputs": ["obs_x"], "clip": true, "weights": [[0], [1]]}`, "never clipped"},
		"inputs and features":        {softmax, `{"inputs": ["obs_x"], "features": {"kind": "tabular", "states": 2, "column": "obs_x"}, "weights": [[0], [1]]}`, "either inputs"},
		"neither":                    {softmax, `{"weights": [[0], [1]]}`, "either inputs"},
		"two intercepts":             {softmax, `{"features": {"kind": "columns", "names": ["obs_x"], "low": [0], "high": [1], "intercept": true}, "clip": true, "weights": [[0, 0], [1, 1]], "intercept": [0, 1]}`, "leave one of them out"},
		"too few intercepts":         {softmax, `{"inputs": ["obs_x"], "weights": [[0], [1]], "intercept": [1]}`, "one an action"},
		"weights twice":              {softmax, `{"inputs": ["obs_x"], "weights": [[0], [1]], "weights": [[1], [0]]}`, "weights"},
		"another kind":               {greedy, `{"kind": "softmax", "inputs": ["obs_x"], "weights": [[0], [1]]}`, "read as soft-greedy"},
		"a field of another kind":    {greedy, `{"inputs": ["obs_x"], "weights": [[0], [1]], "temperature": 1}`, "temperature"},
		"another schema":             {softmax, `{"schema": "discreet/policy/v2", "inputs": ["obs_x"], "weights": [[0], [1]]}`, "schema"},
		"no precision":               {tree, `{"inputs": ["obs_x"], "nodes": [{"input": "obs_x", "threshold": 1, "left": 1, "right": 2}, ` + leaves + `]}`, "precision"},
		"no threshold":               {tree, `{"precision": "float64", "inputs": ["obs_x"], "nodes": [{"input": "obs_x", "left": 1, "right": 2}, ` + leaves + `]}`, "threshold"},
		"a circle":                   {tree, `{"precision": "float64", "inputs": ["obs_x"], "nodes": [{"input": "obs_x", "threshold": 1, "left": 0, "right": 2}, ` + leaves + `]}`, "after this one"},
		"a node with two parents":    {tree, `{"precision": "float64", "inputs": ["obs_x"], "nodes": [{"input": "obs_x", "threshold": 1, "left": 1, "right": 1}, ` + leaves + `]}`, "parents"},
		"leaves of different widths": {tree, `{"precision": "float64", "inputs": ["obs_x"], "nodes": [{"input": "obs_x", "threshold": 1, "left": 1, "right": 2}, {"probs": [1, 0]}, {"probs": [0, 1, 0]}]}`, "as many in every leaf"},
		"a leaf that asks":           {tree, `{"precision": "float64", "inputs": ["obs_x"], "nodes": [{"input": "obs_x", "threshold": 1, "probs": [1, 0]}]}`, "nothing else"},
		"a tree beside trees":        {tree, `{"precision": "float64", "inputs": ["obs_x"], "nodes": [{"probs": [1, 0]}], "trees": [{"nodes": [{"probs": [1, 0]}]}]}`, "give one tree as nodes"},
		"a forest without trees":     {tree, `{"precision": "float64", "inputs": ["obs_x"], "trees": []}`, "at least one tree"},
		"trees of other actions":     {tree, `{"precision": "float64", "inputs": ["obs_x"], "trees": [{"nodes": [{"probs": [1, 0]}]}, {"nodes": [{"probs": [1, 0, 0]}]}]}`, "as many in every tree"},
		"a score without scores":     {tree, `{"precision": "float64", "inputs": ["obs_x"], "trees": [{"nodes": [{"score": 1}]}]}`, "has a score, and any other has probs"},
		"a tree of no action":        {tree, `{"precision": "float64", "inputs": ["obs_x"], "scores": [0, 0], "trees": [{"action": 2, "nodes": [{"score": 1}]}]}`, "0 to 1"},
		"one score":                  {tree, `{"precision": "float64", "inputs": ["obs_x"], "scores": [0], "trees": [{"action": 0, "nodes": [{"score": 1}]}]}`, "a score an action"},
		"scores of one tree":         {tree, `{"precision": "float64", "inputs": ["obs_x"], "scores": [0, 1], "nodes": [{"probs": [1, 0]}]}`, "scores"},
		"an unknown input":           {tree, `{"precision": "float64", "inputs": ["obs_x"], "nodes": [{"input": "obs_y", "threshold": 1, "left": 1, "right": 2}, ` + leaves + `]}`, "among the inputs"},
	} {
		err := c.read(strings.NewReader(c.text))
		if !errors.Is(err, policy.ErrPolicy) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "pi.json") {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
}

func TestColumnsGiveAllProbabilities(t *testing.T) {
	d := log()
	d.Columns = []string{"s", "pi_0", "pi_1", "pi_2"}
	d.Obs = []float64{0, 0.5, 0.25, 0.25, 1, 0, 1, 0, 1, 0.2, 0.2, 0.6, 0, 0.3, 0.3, 0.3}
	p := must(policy.NewColumns([]string{"pi_0", "pi_1", "pi_2"}))
	b := must(p.Bind(d))
	// Actions 0, 1, 2, 1; the last row adds up to .9.
	for row, want := range []float64{0.5, 1, 0.6} {
		if got, ok := b.Prob(row); !ok || got != want {
			t.Errorf("row %d: %v, %v; want %v", row, got, ok, want)
		}
	}
	if got, ok := b.Prob(3); ok || got != 0 {
		t.Errorf("a row that is no distribution has %v", got)
	}
	if err := policy.Check(p, d); !errors.Is(err, policy.ErrRow) {
		t.Errorf("a row that is no distribution passes: %v", err)
	}
	if _, err := policy.NewColumns([]string{"pi_1"}); !errors.Is(err, policy.ErrPolicy) {
		t.Error("one column stands for all actions")
	}
}

func TestByStepCountsFromTheBeginningOfEachEpisode(t *testing.T) {
	d := log()
	d.EpisodeStart, d.PersonStart = []int{0, 3, 4}, []int{0, 1, 2}
	d.Action, d.BehaviorProb = []int32{0, 1, 1, 1}, []float64{0.4, 0.4, 0.4, 0.6}
	for name, c := range map[string]struct {
		p    policy.Policy
		want []float64
	}{
		"whichever action":   {must(policy.NewByStep([][]float64{{0.5}, {1}})), []float64{0.5, 1, 1, 0.5}},
		"two arms":           {must(policy.NewByStep([][]float64{{0.4, 0.6}, {1}})), []float64{0.4, 1, 1, 0.6}},
		"arms at every step": {must(policy.NewByStep([][]float64{{0.4, 0.6}, {1, 0}, {0.25, 0.75}})), []float64{0.4, 0, 0.75, 0.6}},
		"a column of draws":  {policy.Once{}, []float64{0.4, 1, 1, 0.6}},
	} {
		b := must(c.p.Bind(d))
		for row, want := range c.want {
			if got, ok := b.Prob(row); !ok || got != want {
				t.Errorf("%s: row %d: %v, %v; want %v", name, row, got, ok, want)
			}
		}
	}
	d.Action[0] = 2
	if _, ok := must(must(policy.NewByStep([][]float64{{0.4, 0.6}, {1}})).Bind(d)).Prob(0); ok {
		t.Error("an action beyond the list is judged")
	}
	d.BehaviorProb = nil
	if _, err := (policy.Once{}).Bind(d); !errors.Is(err, policy.ErrMissing) {
		t.Errorf("no column: %v", err)
	}
	for _, probs := range [][][]float64{nil, {{}}, {{0}}, {{1.1}}, {{math.NaN()}}, {{0.5}, {-1}}, {{0.4, 0.5}}, {{0.4, 0.6 + 2e-9}}, {{-0.1, 1.1}}, {{math.NaN(), 1}}, {{0.4, 0.6}, {0.2, 0.3, 0.5}}} {
		if _, err := policy.NewByStep(probs); !errors.Is(err, policy.ErrPolicy) {
			t.Errorf("%v is taken", probs)
		}
	}
}

// encoding/json would take the last of two members that differ in case, and null
// for zero.
func TestMembersInAnotherCaseAndNullAreRefused(t *testing.T) {
	for _, text := range []string{
		`{"inputs": ["obs_x"], "weights": [[0], [9]], "Weights": [[0], [-9]]}`,
		`{"inputs": ["obs_x"], "weights": [[0], [null]]}`,
		`{"inputs": ["obs_x"], "weights": [[0], [9]], "temperature": null}`,
		`{"inputs": ["obs_x"], "Weights": [[0], [9]]}`,
	} {
		if _, err := policy.ReadSoftmax(strings.NewReader(text), "pi.json"); !errors.Is(err, policy.ErrPolicy) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
