package discreet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
)

// spoiled is a log of persons of one episode of one decision, of whom the first few
// have a record that cannot be used.
func spoiled(t *testing.T, persons, bad int) (dir string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("unit_id,episode_id,step,obs_state,action,behavior_prob,reward,terminated\n")
	for i := range persons {
		p, reward := "0.5", "1"
		if i < bad {
			p, reward = []string{"0", "1.5", "NaN", "x"}[i%4], []string{"", "1e999"}[i%2]
		}
		fmt.Fprintf(&b, "u%d,e%d,0,%d,%d,%s,%s,true\n", i, i, i%3, i%2, p, reward)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "log.csv"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every private method answers whatever part of the records can be used, none of
// them included, under either adjacency, and nothing but the noisy answer says how
// many could not be.
func TestEveryPrivateMethodAnswersWhereRecordsAreLeftOut(t *testing.T) {
	const persons = 20
	for _, m := range evaluate.Methods() {
		if !m.Private {
			continue
		}
		for _, adjacency := range []string{"replace_one", "add_remove_one"} {
			public := map[int]string{}
			for _, bad := range []int{0, 7, persons} {
				c := config.Config{
					Dir:      spoiled(t, persons, bad),
					Data:     config.Data{Path: config.Names{"log.csv"}, Behavior: &config.Behavior{Source: "logged"}},
					Problem:  config.Problem{Persons: persons, Gamma: 1, Reward: &config.Bounds{Range: evaluate.Range{Max: 1}}, Horizon: 1},
					Features: &feature.Spec{Kind: "tabular", States: 3, Column: "obs_state"},
					Target:   config.Target{Kind: "logged"}, Method: config.Method{Name: m.Name},
					Privacy: config.Privacy{Adjacency: adjacency, Epsilon: 2, Delta: 1e-2},
				}
				if m.Name == "gpope" {
					c.Method.Params = map[string]any{"iterations": 4}
				}
				if m.NeedArms {
					c.Features = nil
					c.By, c.Method.Params = &config.By{Column: "obs_state", Values: &config.Vocabulary{Words: []string{"0", "1", "2"}, Numeric: true}}, map[string]any{"control": "0"}
					if adjacency == "replace_one" {
						c.By.Group = "may_change"
					}
				}
				if m.Learns {
					c.Target = config.Target{Kind: "learned", Actions: 2}
				}
				if m.NeedOutcome {
					c.Data.Outcome, c.Data.Behavior, c.Features, c.Problem.Reward, c.Problem.Episodes = &config.Outcome{}, nil, nil, nil, 1
				}
				r, err := discreet.Evaluate(context.Background(), c, discreet.WithSource(noise.NewSeeded(7)))
				if err != nil {
					t.Errorf("%s, %s, %d of %d records left out: %v", m.Name, adjacency, bad, persons, err)
					continue
				}
				public[bad] = told(t, r.JSON)
			}
			if public[0] != public[7] || public[0] != public[persons] {
				t.Errorf("%s, %s: the release tells what was left out:\n%s", m.Name, adjacency, cmp.Diff(public[0], public[7]))
			}
		}
	}
}

// told is a release without the numbers that the noise hides.
func told(t *testing.T, release []byte) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(release, &fields); err != nil {
		t.Fatal(err)
	}
	for _, noisy := range []string{"theta", "values", "bands", "answers", "survival", "distribution", "experiment", "learned", "diagnostics"} {
		delete(fields, noisy)
	}
	switch string(fields["method"]) {
	case `"dp-is"`, `"dp-pdis"`, `"dp-wis"`, `"dp-dr"`, `"dp-fqe"`, `"dp-survival"`, `"dp-distribution"`, `"dp-experiment"`, `"dp-learn"`, `"auto"`:
		delete(fields, "notes") // some say what noisy numbers mean
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
