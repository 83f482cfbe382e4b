package scale

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
