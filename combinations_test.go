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
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/schema"
)

// parts of a configuration, of each of which one is drawn. What does not go together is refused by the plan.
var (
	anyData = []string{
		"behavior: {source: logged}",
		"behavior: {source: logged, precision: 0.001}",
		"behavior: {source: design, kind: table, path: b.csv, column: obs_x}",
		"behavior: {source: design, kind: uniform, actions: 2}",
		"behavior: {source: model, trained_on: public, kind: table, path: b.csv, column: obs_x}",
		"behavior: {kind: estimate, column: obs_x, states: 4, actions: 2, once: false}",
		"behavior: {kind: estimate, by: features, actions: 2, once: false}",
	}
	anyViolation = []string{"", "", ", on_violation: reject", ", steps: {sort: true}"}
	anyHorizon   = []string{"horizon: 1", "horizon: 1", "horizon: 3", "episodes: 2, episode_horizon: 3", "episodes: 1, episode_horizon: 3, horizon: 3"}
	anyFact      = []string{"", "", ", records: complete", ", end: terminated", ", end: truncated", ", return: {min: 0, max: 1}"}
	anyPrivacy   = []string{
		"adjacency: replace_one, epsilon: 1, delta: 1e-3", "adjacency: add_remove_one, epsilon: 1, delta: 1e-3", "adjacency: replace_one, epsilon: 50, delta: 1e-3",
		"adjacency: add_remove_one, epsilon: 50, delta: 1e-3", "adjacency: replace_one, epsilon: 4, delta: 0", "adjacency: replace_one, epsilon: 4, delta: 1e-3, noise_family: laplace",
		"adjacency: replace_one, unit: episode, epsilon: 50, delta: 1e-3", "adjacency: replace_one, epsilon: 4, delta: 1e-3, noise: fast",
	}
	anyPolicy = []string{"{kind: logged}", "{kind: logged}", "{kind: uniform, actions: 2}", "{kind: constant, action: 1}", "{kind: table, path: pi.csv, column: obs_x}", "{kind: tree, path: step.json}"}
	anyTarget = []string{"", "", "", "several", "several", "groups", "fixed"}
	anyAsked  = []string{"", "contrasts: all", "contrasts: logged\nlevels: none", "contrasts: [[p1, p2]]\nselect: best", "select: {best: permute-and-flip}"}
	features  = []string{"{kind: tabular, states: 4, column: obs_x}", "{kind: columns, names: [obs_x], low: [0], high: [3]}", "{kind: columns, names: [obs_x, obs_y], low: [0, 0], high: [3, 1], intercept: true}"}
)

// drawn is a configuration of a method, of data of so many persons.
func drawn(r *rand.Rand, m evaluate.Method, persons int) string {
	one := func(of []string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	add := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	method, features := "name: "+m.Name, one(append([]string{"", ""}, features...))
	if m.NeedFeatures && (features == "" || r.IntN(2) == 0) {
		features = "{kind: tabular, states: 4, column: obs_x}"
	}
	target, by := one(anyTarget), "column: obs_g, values: [0, 1], names: [A, B]"
	switch {
	case m.NeedOutcome:
		target = one([]string{"", "groups", "several"})
	case m.NeedArms:
		target, method = "groups", method+", control: A, allocation: {A: 0.5, B: 0.5}"
	case m.Learns:
		target, method = "learned", method+one([]string{"", "", ", stationary: true"})
	case m.Name == "gpope":
		method += ", iterations: 4"
	case m.NeedFeatures:
		target = one([]string{"", "", "", "", target})
	}
	switch target {
	case "learned":
		add("target: {kind: learned, actions: 2}")
	case "several":
		add("targets: [{name: p1, kind: logged}, {name: p2, %s, {name: p3, %s]", one(anyPolicy)[1:], one(anyPolicy)[1:])
		add("%s", one(anyAsked))
	case "groups", "fixed":
		if m.NeedArms {
			add("target: {kind: logged}")
		} else {
			add("target: %s", one(anyPolicy))
		}
	default:
		add("target: %s", one(anyPolicy))
	}
	times := m.NeedOutcome || m.Learns && r.IntN(2) == 0
	privacy := one(anyPrivacy)
	if !m.Private {
		privacy = "none"
	} else if m.Learns && !times && r.IntN(2) == 0 { // of several decisions, in a model
		privacy = strings.Replace(privacy, "epsilon: 50", "epsilon: 50000", 1)
	}
	switch replace := strings.Contains(privacy, "replace_one"); {
	case target == "groups" && replace:
		add("by: {%s, group: may_change}", by)
	case target == "groups" || target == "fixed" && !replace:
		add("by: {%s}", by)
	case target == "fixed":
		add("by: {%s, group: fixed, persons: {0: %d, 1: %d}}", by, persons/2, persons/2)
	}
	if features != "" {
		add("features: %s", features)
	}
	if times {
		add("data: {path: follow.csv, one_row_episodes: true, outcome: {time: time, event: event, causes: {end: 1}, censored: 0, every: 1, until: 4}, %s}", one(anyData[:4]))
	} else {
		add("data: {path: log.csv, %s%s}", one(anyData), one(anyViolation))
	}
	if strings.Contains(privacy, "unit: episode") && !times {
		persons += persons / 2 // every second one has two episodes
	}
	if times {
		add("problem: {persons: %d}", persons)
	} else {
		add("problem: {persons: %d, gamma: %s, reward: {min: 0, max: 1}, %s%s}", persons, one([]string{"1", "0.9"}), one(anyHorizon), one(anyFact))
	}
	add("method: {%s}", method)
	if m.Private {
		privacy = "{" + privacy + "}"
	}
	add("privacy: %s", privacy)
	return b.String()
}

// combined are the data of [drawn]: 40 persons of one or two episodes.
func combined(t *testing.T, dir string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var log, follow strings.Builder
	log.WriteString("unit_id,episode_id,step,obs_x,obs_y,obs_g,action,behavior_prob,reward,terminated\n")
	follow.WriteString("unit_id,episode_id,step,obs_x,obs_y,obs_g,action,behavior_prob,time,event\n")
	for person := range 40 {
		for episode := range 1 + person%2 {
			for step := range 3 {
				x, action := r.IntN(4), r.IntN(2)
				if episode == 0 && step == 0 {
					fmt.Fprintf(&follow, "u%d,e%d,0,%d,0.5,%d,%d,0.5,%d,%d\n", person, person, x, person/2%2, action, 1+r.IntN(5), r.IntN(2))
				}
				fmt.Fprintf(&log, "u%d,e%d-%d,%d,%d,0.5,%d,%d,0.5,%d,%t\n", person, person, episode, step, x, person/2%2, action, r.IntN(2), step == 2)
			}
		}
	}
	const step = `{"kind": "tree", "inputs": ["obs_x"], "precision": "float64", "nodes": [{"step": true, "threshold": 0.5, "left": 1, "right": 2}, {"probs": [0.9, 0.1]}, {"probs": [0.2, 0.8]}]}`
	const even = "0.5,0.5\n0.5,0.5\n0.5,0.5\n0.5,0.5\n"
	for name, text := range map[string]string{"log.csv": log.String(), "follow.csv": follow.String(), "b.csv": even, "pi.csv": "0.9,0.1\n0.4,0.6\n0.2,0.8\n0,1\n", "step.json": step} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is combined: what the plan refuses is not evaluated, and what is released follows its schema and is
// proven by what it says of itself alone.
func TestWhateverIsCombinedIsRefusedOrProven(t *testing.T) {
	dir := t.TempDir()
	combined(t, dir)
	proven := map[string]int{}
	for _, m := range evaluate.Methods() {
		r := rand.New(rand.NewPCG(combinationSeed, uint64(len(m.Name))<<8|uint64(m.Name[len(m.Name)-1])))
		for i := range combinations {
			text := drawn(r, m, 40)
			c, err := discreet.Parse("drawn.yaml", []byte(text))
			if err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			c.Dir = dir
			_, refused := discreet.Plan(c)
			result, err := discreet.Evaluate(context.Background(), c, discreet.WithSource(noise.NewSeeded(uint64(i))))
			if refused != nil && err == nil {
				t.Errorf("%s, %d: the plan is refused (%v), and the data are evaluated:\n%s", m.Name, i, refused, text)
			}
			if err != nil {
				continue
			}
			if err := schema.Check(schema.Release, result.JSON); err != nil {
				t.Errorf("%s, %d: %v:\n%s", m.Name, i, err, text)
			}
			proven[m.Name]++
			if !m.Private {
				continue
			}
			if v, err := discreet.Verify(result.JSON, nil); err != nil || !v.Replanned {
				t.Errorf("%s, %d: %v, planned again: %t:\n%s", m.Name, i, err, v != nil && v.Replanned, text)
			}
		}
		if proven[m.Name] == 0 {
			t.Errorf("%s: every combination was refused", m.Name)
		}
	}
	t.Log(proven)
}
