package discreet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// patients writes a table of survival, one row a person, and a configuration that asks about it
// at a ledger.
func patients(t *testing.T, more ...string) config.Config {
	t.Helper()
	dir := t.TempDir()
	rows := "id,arm,months,status\n"
	for i := range 60 {
		rows += fmt.Sprintf("p%d,%s,%g,%s\n", i, []string{"new", "old"}[i%2], []float64{0.7, 1.4, 2.1}[i%3], []string{"died", "left", "died", "died"}[i%4])
	}
	if err := os.WriteFile(filepath.Join(dir, "trial.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := discreet.Parse("trial.yaml", []byte(`
data:
  path: trial.csv
  columns: {unit_id: id}
  outcome: {time: months, event: status, causes: {death: died}, censored: left, every: 0.7, until: 2.1}
problem: {persons: 60}
by: {column: arm, values: [new, old], names: [new, old], group: may_change}
method: {name: dp-survival, control: old}
privacy: {adjacency: replace_one, epsilon: 1, delta: 1e-6}
ledger: {path: budget.db, dataset: trial}
`), more...)
	if err != nil {
		t.Fatal(err)
	}
	c.Dir = dir
	l, err := ledger.Create(context.Background(), filepath.Join(dir, "budget.db"), ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 10, Delta: 1e-4}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

// A contract that states an outcome is kept by the configuration that it was made from, and
// refuses another outcome by its key.
func TestAContractTakesAnOutcome(t *testing.T) {
	c := patients(t)
	if _, err := discreet.SetContract(t.Context(), c, filepath.Join(c.Dir, "budget.db"), "", ""); err != nil {
		t.Fatal(err)
	}
	r, err := discreet.Evaluate(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	// Three times 0.7 is what a person writes, so that deaths at 2.1 are within the last bin.
	if ends := r.Release.Survival.Ends; ends[1] != 1.4 || ends[2] != 2.1 {
		t.Errorf("bins end at %v; want .7, 1.4, 2.1", ends)
	}
	c.Data.Outcome.Until, c.Data.Outcome.Every = 1.4, 0.7
	if _, err := discreet.Evaluate(t.Context(), c); !errors.Is(err, ledger.ErrContract) || !strings.Contains(err.Error(), "data.outcome.until") || strings.Contains(err.Error(), "reward") {
		t.Errorf("another outcome: %v; want a refusal that names its key alone", err)
	}
}

// What an outcome would contradict is refused by name, before the data are opened.
func TestWhatAnOutcomeContradicts(t *testing.T) {
	for set, want := range map[string]string{
		"data.encode={status: [left, died]}": "data.encode",
		"target={kind: uniform, actions: 2}; data.behavior={source: design, kind: uniform, actions: 2}": "leave by out",
		"data.outcome.censoring=any":                "leave by out",
		"data.outcome.censoring=none":               "independent, unanticipated or any",
		"method={name: dp-survival, max_weight: 2}": "max_weight",
		"data.columns={reward: months}":             "data.columns.reward",
		"problem.horizon=3":                         "problem.horizon",
		"data.outcome.event=null":                   "time and event",
		"data.outcome.causes={death: left}":         "stands for two things",
		"data.outcome.censored=[0]":                 "all text or all numbers",
		"data.outcome.until=2":                      "whole number of times",
		"data.outcome.bins=[1, 2]":                  "bins, and every or until",
		"data.outcome.times=often":                  "grouped or discrete",
		"data.outcome.strata={column: arm}":         "data.outcome.strata",
		"privacy.delta=0; privacy.noise=fast":       "exact",
		"method={name: dp-is}; by=null":             "dp-survival",
		"method={name: dp-survival, until: 1}":      "end of a bin",
		"method={name: dp-survival, control: x}":    "control",
	} {
		c := patients(t, strings.Split(set, "; ")...)
		c.Data.Path = config.Names{"away.csv"}
		_, err := discreet.Evaluate(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "away") {
			t.Errorf("%s: %v; want a refusal with %q", set, err, want)
		}
	}
}
