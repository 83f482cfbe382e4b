package scale

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// TestARunIsOneCharge: a driver that is stopped after its charge leaves it pending; the
// same question goes on with it, charged once in all, and its release is recorded and
// given again. In another directory its key is refused.
func TestARunIsOneCharge(t *testing.T) {
	s := newStage(t, "ledger={path: budget.db, dataset: chain}")
	path := filepath.Join(s.dir, "budget.db")
	l, err := ledger.Create(t.Context(), path, ledger.Config{Dataset: "chain", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 10, Delta: 1e-5}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := s.driver(t)
	d.Engine = broken{do: func(r Round, p []Partial) ([]Partial, error) {
		if r.Task.Round == 2 {
			return nil, errStopped
		}
		return p, nil
	}}
	_, err = d.Evaluate(t.Context(), discreet.WithKey("k"))
	var pending *discreet.PendingError
	if !errors.As(err, &pending) || !pending.Continues || pending.Key != "k" {
		t.Fatalf("stopped after its charge: %v", err)
	}
	away := d
	away.Dir, away.Engine = filepath.Join(s.dir, "elsewhere"), Local{}
	if _, err := away.Evaluate(t.Context(), discreet.WithKey("k")); !errors.Is(err, ledger.ErrPending) {
		t.Errorf("its key in another directory: %v", err)
	}
	d.Engine = Local{}
	if _, err := d.Evaluate(t.Context(), discreet.WithKey("other")); !errors.Is(err, ErrRun) {
		t.Errorf("another key in its directory: %v", err)
	}
	first, err := d.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Evaluate(t.Context(), discreet.WithKey("k"))
	if err != nil || !again.Repeated || !bytes.Equal(first.JSON, again.JSON) {
		t.Errorf("asked again it is repeated: %v", err)
	}
	charges, releases := 0, 0
	for n, err := range l.Entries(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n.Entry.Charge != nil {
			charges++
		}
		if n.Entry.Record != nil {
			releases++
		}
	}
	if charges != 1 || releases != 1 || first.Release.Ledger == nil || first.Release.Ledger.Key != "k" {
		t.Errorf("%d charges and %d releases, entry %+v; want one of each", charges, releases, first.Release.Ledger)
	}
}
