package scale

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// TestPartialsOfAnotherSetAreRefused: a worker that finds an older set of shards of the same
// data under the names of this one counts persons of other shards, and leaves others out.
func TestPartialsOfAnotherSetAreRefused(t *testing.T) {
	s := newStage(t, "privacy.adjacency=add_remove_one", "problem.persons=50")
	older, err := write(people(t, 120, 3), filepath.Join(s.dir, "older"), len(s.shards), [16]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	d := s.driver(t)
	d.Engine = broken{do: func(r Round, p []Partial) ([]Partial, error) {
		p[3] = answered(t, r.Task, older[3], r.Key)
		return p, nil
	}}
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, ErrPartial) {
		t.Errorf("three shards of one set and one of another: %v", err)
	}
}

// TestARunThatEndedIsOfItsShards: its release is not given again as that of new shards.
func TestARunThatEndedIsOfItsShards(t *testing.T) {
	s := newStage(t)
	d := s.driver(t)
	first, err := d.Evaluate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Evaluate(context.Background())
	if err != nil || string(again.JSON) != string(first.JSON) {
		t.Errorf("the run of the same shards does not give its release again: %v", err)
	}
	dir := filepath.Dir(s.shards[0])
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := write(people(t, 120, 4), dir, len(s.shards), [16]byte{2}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), "another set of shards") {
		t.Errorf("other persons in shards of the same names: %v", err)
	}
}

// TestAChargedRunDoesNotGoOnWithoutItsLedger: nothing would hold its noisy sums against the
// entries of the charge.
func TestAChargedRunDoesNotGoOnWithoutItsLedger(t *testing.T) {
	s := newStage(t, "ledger={path: budget.db, dataset: chain}")
	l, err := ledger.Create(t.Context(), filepath.Join(s.dir, "budget.db"), ledger.Config{Dataset: "chain", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 10, Delta: 1e-5}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d := s.driver(t)
	run, _ := charged(t, s, d, 1)
	for _, dir := range []string{d.Dir, run} {
		without := stage{dir: s.dir, config: s.config, shards: s.shards, overrides: []string{"ledger=null"}}.driver(t)
		without.Dir = dir
		asked := 0
		without.Progress = func(int) { asked++ }
		if _, err := without.Evaluate(t.Context()); !errors.Is(err, config.ErrConfig) || asked > 0 {
			t.Errorf("a charged run without its ledger: %v, workers asked %d times", err, asked)
		}
	}
}
