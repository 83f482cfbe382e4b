package discreet_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// twice is a log of persons of two episodes, which stand together or apart. spoil
// changes a row, given by person, episode and step.
func twice(t *testing.T, persons int, together bool, spoil func(p, e, step int, action, prob *string)) (dir string) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("unit_id,episode_id,step,obs_state,action,behavior_prob,reward,terminated\n")
	episode := func(p, e int) {
		for step := range 1 + (p+e)%3 {
			action, prob := fmt.Sprint((p+step)%2), []string{"0.5", "0.25", "0.8"}[(p+e+step)%3]
			if spoil != nil {
				spoil(p, e, step, &action, &prob)
			}
			fmt.Fprintf(&b, "u%d,e%d-%d,%d,%d,%s,%s,%v,%v\n", p, p, e, step, p%3, action, prob, float64((p*7+step)%11)/10, step == (p+e)%3)
		}
	}
	if together {
		for p := range persons {
			episode(p, 0)
			episode(p, 1)
		}
	} else {
		for e := range 2 {
			for p := range persons {
				episode(p, e)
			}
		}
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "log.csv"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func twiceConfig(dir, method, target string, persons int) config.Config {
	c := config.Config{
		Dir:     dir,
		Data:    config.Data{Path: config.Names{"log.csv"}, Behavior: &config.Behavior{Source: "logged"}},
		Problem: config.Problem{Persons: int64(persons), Gamma: .9, Reward: &config.Bounds{Range: evaluate.Range{Max: 1}}, Horizon: 5},
		Target:  config.Target{Kind: target}, Method: config.Method{Name: method, Params: map[string]any{"diagnostics": .2}},
		Privacy: config.Privacy{Adjacency: "replace_one", Epsilon: 2, Delta: 1e-5},
	}
	if target == "uniform" {
		c.Target.Actions = 2
	}
	return c
}

// Data whose persons stand together are read part by part, and others are held in
// memory: the releases are the same bytes, whatever the number of processors, with
// records that are left out and without. The data have several parts.
func TestReadingByPartsReleasesTheSameBytes(t *testing.T) {
	const persons = 4500
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	spoil := func(p, e, step int, action, prob *string) {
		switch {
		case p%701 == 3 && e == 1:
			*prob = "0"
		case p%997 == 5:
			*action = "2" // unknown to a uniform policy of two
		}
	}
	for _, method := range []string{"dp-is", "dp-pdis", "dp-wis"} {
		for _, target := range []string{"logged", "uniform"} {
			for name, spoil := range map[string]func(p, e, step int, action, prob *string){"whole": nil, "spoiled": spoil} {
				together, apart := twice(t, persons, true, spoil), twice(t, persons, false, spoil)
				run := func(dir string, processors int) *discreet.Result {
					runtime.GOMAXPROCS(processors)
					r, err := discreet.Evaluate(context.Background(), twiceConfig(dir, method, target, persons), discreet.WithSource(noise.NewSeeded(7)))
					if err != nil {
						t.Fatalf("%s, %s, %s: %v", method, target, name, err)
					}
					return r
				}
				scattered := func(notice string) bool { return strings.Contains(notice, "do not stand together") }
				want := run(apart, 1)
				if !slices.ContainsFunc(want.Notices, scattered) {
					t.Errorf("%s, %s, %s: no notice says that the data are held in memory: %q", method, target, name, want.Notices)
				}
				rest := slices.DeleteFunc(want.Notices, scattered)
				for processors := 1; processors <= 3; processors += 2 {
					got := run(together, processors)
					if !bytes.Equal(got.JSON, want.JSON) {
						t.Errorf("%s, %s, %s, %d processors: releases differ:\n%s\n%s", method, target, name, processors, got.JSON, want.JSON)
					}
					if len(got.Notices) != len(rest) {
						t.Errorf("%s, %s, %s: notices %q, want %q", method, target, name, got.Notices, rest)
					}
				}
			}
		}
	}
}

// Every other method that looks at persons one by one reads them so too.
func TestEveryMethodReadsByPartsAsAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const persons = 4500
	spoil := func(p, e, step int, action, prob *string) {
		if p%997 == 5 {
			*action = "2" // unknown to a uniform policy of two
		}
	}
	together, apart := twice(t, persons, true, spoil), twice(t, persons, false, spoil)
	const uniform, tabular = "target: {kind: uniform, actions: 2}\n", "features: {kind: tabular, states: 3, column: obs_state}\n"
	const several = "targets: [{name: a, kind: uniform, actions: 2}, {name: b, kind: constant, action: 1}, {name: c, kind: constant, action: 0}, {name: old, kind: logged}]\ncontrasts: all\n"
	for name, form := range map[string]string{
		"several":       several + "method: {name: dp-wis}",
		"best":          several + "levels: all\nselect: best\nmethod: {name: dp-pdis}",
		"groups":        uniform + "by: {column: state, values: [0, 1], group: may_change}\nmethod: {name: dp-wis}",
		"fixed groups":  uniform + "by: {column: state, values: [0, 1], group: fixed, persons: {0: 1500, 1: 1500}}\nmethod: {name: dp-is}",
		"estimated":     uniform + "method: {name: dp-wis}",
		"regressed":     uniform + "features: {kind: columns, names: [obs_state], low: [0], high: [2], intercept: true}\nmethod: {name: dp-pdis}",
		"dp-dr":         uniform + tabular + "method: {name: dp-dr, baseline: state}",
		"dp-fqe":        uniform + tabular + "method: {name: dp-fqe, form: action}",
		"linear":        uniform + "features: {kind: columns, names: [obs_state], low: [0], high: [2]}\nmethod: {name: dp-fqe, form: linear-state}",
		"dp-learn":      "target: {kind: learned, actions: 2}\n" + tabular + "method: {name: dp-learn}",
		"dp-refine":     uniform + tabular + "method: {name: dp-refine}",
		"lstd":          uniform + "features: {kind: fourier, order: 2, names: [obs_state], low: [0], high: [2]}\nmethod: {name: dp-refine, form: lstd}",
		"dp-lsw":        "target: {kind: logged}\n" + tabular + "method: {name: dp-lsw}",
		"distribution":  uniform + "method: {name: dp-distribution}",
		"dp-experiment": "target: {kind: logged}\nby: {column: state, values: [0, 1], group: may_change}\nmethod: {name: dp-experiment, control: state = 0}",
	} {
		behavior := map[string]string{"estimated": "{kind: estimate, actions: 2, states: 3, column: obs_state, once: false}", "regressed": "{kind: estimate, by: features, actions: 2, once: true}"}[name]
		if behavior == "" {
			behavior = "{source: logged}"
		}
		run := func(dir string, processors int) (text []byte, notices []string) {
			runtime.GOMAXPROCS(processors)
			c, err := discreet.Parse("case", fmt.Appendf(nil, "data: {path: log.csv, behavior: %s}\nproblem: {persons: %d, gamma: 0.9, reward: {min: 0, max: 1}, horizon: 6, episodes: 2}\nprivacy: {adjacency: replace_one, epsilon: 2, delta: 1.0e-5}\n%s\n", behavior, persons, form))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			c.Dir = dir
			r, err := discreet.Evaluate(context.Background(), c, discreet.WithSource(noise.NewSeeded(7)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return r.JSON, r.Notices
		}
		want, notices := run(apart, 1)
		held := slices.IndexFunc(notices, func(n string) bool { return strings.Contains(n, "all rows are held in memory") })
		if held < 0 {
			t.Fatalf("%s: no notice says why all rows are held in memory: %q", name, notices)
		}
		notices = slices.Delete(notices, held, held+1)
		for processors := 1; processors <= 3; processors += 2 {
			got, told := run(together, processors)
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %d processors: releases differ:\n%s\n%s", name, processors, got, want)
			}
			if !slices.Equal(told, notices) {
				t.Errorf("%s, %d processors: notices %q, want %q", name, processors, told, notices)
			}
		}
	}
}

// What is wrong in several parts is told as it is of data in memory: the first row, and
// how many there are.
func TestReadingByPartsTellsTheSameFaults(t *testing.T) {
	const persons = 6000
	dir := twice(t, persons, true, func(p, _, _ int, action, _ *string) {
		if p == 4000 || p == 5999 {
			*action = "2"
		}
	})
	c := twiceConfig(dir, "dp-wis", "uniform", persons)
	c.Data.OnViolation = "reject"
	_, err := discreet.Evaluate(context.Background(), c)
	rows := 2 * 2 // of two persons with two episodes each, one row at least
	for _, p := range []int{4000, 5999} {
		rows += p%3 + (p+1)%3
	}
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("first of %d such rows", rows)) || !strings.Contains(err.Error(), fmt.Sprintf("log.csv:%d", rowOf(4000))) {
		t.Errorf("%v; want row %d and %d rows", err, rowOf(4000), rows)
	}
	c.Problem.Persons++
	c.Data.OnViolation = ""
	if _, err := discreet.Evaluate(context.Background(), c); err == nil || !strings.Contains(err.Error(), "problem.persons says 6001") {
		t.Errorf("another number of persons: %v", err)
	}
}

// rowOf is the line of the first row of a person of twice, together.
func rowOf(person int) int {
	row := 2
	for p := range person {
		row += 2 + p%3 + (p+1)%3
	}
	return row
}

// A caller who gives up is heard while parts are read.
func TestReadingByPartsStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	stop := func(trajectory.Progress) { calls++; cancel() }
	_, err := discreet.Evaluate(ctx, twiceConfig(twice(t, 60000, true, nil), "dp-wis", "uniform", 60000), discreet.WithProgress(stop))
	if err == nil || ctx.Err() == nil || !strings.Contains(err.Error(), context.Canceled.Error()) || calls > 2 {
		t.Errorf("%v after %d calls; want %v", err, calls, context.Canceled)
	}
}
