package discreet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Where an observation is missing because of what came of it, nothing is decided by a 0 in its place: an arm that
// nobody gains from keeps its value, no gain is certified, and an arm that does nothing has no effect.
func TestWhoIsMissingByOutcomeGainsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	var log strings.Builder
	log.WriteString("unit_id,episode_id,step,obs_x,obs_y,obs_arm,obs_group,action,behavior_prob,reward\n")
	for i := range 4000 {
		x, y, arm, reward, group := fmt.Sprint(r.IntN(3)), fmt.Sprint(r.IntN(3)), r.IntN(2), r.IntN(2), fmt.Sprint(i%2)
		if arm == 1 && reward == 0 && r.IntN(2) == 0 {
			x = ""
		}
		if arm != reward && r.IntN(2) == 0 { // equally often in both arms
			y = ""
		}
		if reward == 0 && r.IntN(2) == 0 {
			group = ""
		}
		fmt.Fprintf(&log, "u%d,e%d,0,%s,%s,%d,%s,%d,0.5,%d\n", i, i, x, y, arm, group, arm, reward)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"log.csv": log.String(), "pi.csv": "0,1\n1,0\n1,0\n",
		"tree.json": `{"kind": "tree", "precision": "float64", "inputs": ["obs_y"], "nodes": [{"input": "obs_y", "threshold": 0.5, "left": 1, "right": 2}, {"probs": [0, 1]}, {"probs": [1, 0]}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const (
		data     = "privacy: {adjacency: replace_one, epsilon: 50, delta: 1e-6}\nproblem: {persons: 4000, gamma: 1, horizon: 1, reward: {min: 0, max: 1}}\n"
		coins    = "data: {path: log.csv, one_row_episodes: true, behavior: {source: design, kind: uniform, actions: 2}}\n"
		cells    = "data: {path: log.csv, one_row_episodes: true, behavior: {kind: estimate, column: obs_x, states: 3, actions: 2, once: false}}\n"
		fitted   = "data: {path: log.csv, one_row_episodes: true, behavior: {kind: estimate, by: features, actions: 2, once: false}}\n"
		states   = "features: {kind: tabular, states: 3, column: obs_x}\n"
		numbers  = "features: {kind: columns, names: [obs_x], low: [0], high: [2], intercept: true}\n"
		one      = "target: {kind: constant, action: 1}\n"
		learned  = "target: {kind: learned, actions: 2}\nmethod: {name: dp-learn}\n"
		compared = "by: {column: obs_arm, values: [0, 1], names: [A, B], group: may_change}\nmethod: {name: dp-experiment, control: A}\n"
	)
	covariates := strings.Replace(numbers, ", intercept: true", "", 1)
	for name, c := range map[string]struct {
		text  string
		truth float64 // of every answer
	}{
		"by cell":              {cells + one + "method: {name: dp-wis}\n", 0.5},
		"by features":          {fitted + numbers + one + "method: {name: dp-pdis}\n", 0.5},
		"a table":              {coins + "target: {kind: table, path: pi.csv, column: obs_x}\nmethod: {name: dp-wis}\n", 0.5},
		"a table, logged":      {strings.Replace(coins, "design, kind: uniform, actions: 2", "logged", 1) + "target: {kind: table, path: pi.csv, column: obs_x}\nmethod: {name: dp-dr}\n", 0.5},
		"a tree":               {coins + "target: {kind: tree, path: tree.json}\nmethod: {name: dp-wis}\n", 0.5},
		"learned by cell":      {cells + states + learned, 0},
		"a table is learned":   {coins + states + learned, 0},
		"a tree is learned":    {coins + covariates + learned, 0},
		"groups":               {coins + "by: {column: obs_group, values: [0, 1], names: [A, B], group: may_change}\ntarget: {kind: logged}\nmethod: {name: dp-is}\n", 0.5},
		"an experiment's arms": {strings.Replace(coins, ", behavior: {source: design, kind: uniform, actions: 2}", "", 1) + covariates + compared, 0},
	} {
		config, err := discreet.Parse("missing.yaml", []byte(data+c.text))
		if err != nil {
			t.Fatal(err)
		}
		config.Dir = dir
		result, err := discreet.Evaluate(context.Background(), config, discreet.WithSource(noise.NewSeeded(1)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		answers := result.Release.Answers
		if name == "an experiment's arms" {
			answers = answers[len(answers)-1:] // the difference
		}
		for _, a := range answers {
			if in := a.Estimate.Interval; !(in[0] <= c.truth+0.02 && c.truth-0.02 <= in[1]) {
				t.Errorf("%s: %s in %v; the truth is %v", name, a.Name, in, c.truth)
			}
		}
		if l := result.Release.Learned; l != nil && max(l.OverLogged, l.OverConstant) > 0.02 {
			t.Errorf("%s: a gain of %v and %v is certified where there is none", name, l.OverLogged, l.OverConstant)
		}
	}
}

// A public mean is that of a column under either of its names, with obs_ and without, and answers are the same;
// two numbers for one column are refused.
func TestPublicMeansHaveEitherName(t *testing.T) {
	dir := t.TempDir()
	var log strings.Builder
	log.WriteString("unit_id,obs_x,action,reward\n")
	for i := range 400 {
		x := fmt.Sprint(i % 3)
		if i%5 == 0 {
			x = ""
		}
		fmt.Fprintf(&log, "u%d,%s,%d,%d\n", i, x, i%2, i%7%2)
	}
	for name, text := range map[string]string{"log.csv": log.String(),
		"tree.json": `{"precision": "float64", "inputs": ["obs_x"], "nodes": [{"input": "obs_x", "threshold": 0.5, "left": 1, "right": 2}, {"probs": [0, 1]}, {"probs": [1, 0]}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	value := func(means string) (float64, error) {
		config, err := discreet.Parse("means.yaml", []byte(`
data: {path: log.csv, one_row_episodes: true, missing: mean, means: `+means+`, behavior: {source: design, kind: uniform, actions: 2}}
problem: {persons: 400, gamma: 1, horizon: 1, reward: {min: 0, max: 1}}
target: {kind: tree, path: tree.json}
method: {name: wis}
privacy: none
`))
		if err != nil {
			t.Fatal(err)
		}
		config.Dir = dir
		result, err := discreet.Evaluate(context.Background(), config)
		if err != nil {
			return 0, err
		}
		return result.Release.Answers[0].Estimate.Value, nil
	}
	want, err := value("{obs_x: 2}")
	if err != nil {
		t.Fatal(err)
	}
	if low, err := value("{obs_x: 0}"); err != nil || low == want {
		t.Fatalf("the mean decides nothing: %v and %v, %v", low, want, err)
	}
	for _, means := range []string{"{x: 2}", "{x: 2, obs_x: 2}"} {
		if got, err := value(means); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", means, got, err, want)
		}
	}
	if _, err := value("{x: 2, obs_x: 0}"); err == nil || !strings.Contains(err.Error(), "one column") {
		t.Errorf("two numbers for a column: %v", err)
	}
}
