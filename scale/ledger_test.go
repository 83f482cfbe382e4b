package scale

import (
	"bytes"
	"errors"
	"fmt"
	"os"
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
	var pending *ledger.PendingError
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
		if n.Charge != nil {
			charges++
		}
		if n.Kind == "record" {
			releases++
		}
	}
	if charges != 1 || releases != 1 || first.Release.Ledger == nil || first.Release.Ledger.Key != "k" {
		t.Errorf("%d charges and %d releases, entry %+v; want one of each", charges, releases, first.Release.Ledger)
	}
}

// copied copies files and directories.
func copied(t *testing.T, from, to string) {
	t.Helper()
	err := os.CopyFS(to, os.DirFS(from))
	if err != nil {
		t.Fatal(err)
	}
}

// charged is a stage with a ledger, and a run of five sums that was stopped before the
// k-th, with the run and the ledger as they were then.
func charged(t *testing.T, s stage, d Driver, k int) (run, budget string) {
	t.Helper()
	at := fmt.Sprint(k)
	run, budget = filepath.Join(s.dir, "run-"+at), filepath.Join(s.dir, "budget-"+at)
	stop(t, d, k)
	copied(t, d.Dir, run)
	text, err := os.ReadFile(filepath.Join(s.dir, "budget.db"))
	if err == nil {
		err = os.WriteFile(budget, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run, budget
}

// TestAnEarlierRunDoesNotGoOn: a run directory that was put back as a whole, and a copy of
// one that another went on with, are refused before a worker is asked, and so is a ledger
// that was put back; a driver that was killed between a sum and its entry goes on.
func TestAnEarlierRunDoesNotGoOn(t *testing.T) {
	s := newStage(t, "ledger={path: budget.db, dataset: chain}", "method={name: dp-refine}", "target={kind: logged}", "data.behavior=null")
	l, err := ledger.Create(t.Context(), filepath.Join(s.dir, "budget.db"), ledger.Config{Dataset: "chain", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 10, Delta: 1e-5}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d := s.driver(t)
	second, early := charged(t, s, d, 2)
	third, _ := charged(t, s, d, 3)
	fourth, now := charged(t, s, d, 4)
	refused := func(what, dir, budget string) {
		t.Helper()
		at := d
		at.Dir = filepath.Join(t.TempDir(), "run")
		copied(t, dir, at.Dir)
		put(t, string(bytesOf(t, budget)), s.dir, "budget.db")
		asked := 0
		at.Progress = func(int) { asked++ }
		if _, err := at.Evaluate(t.Context()); !errors.Is(err, ErrRun) || asked > 0 {
			t.Errorf("%s: %v, workers asked %d times", what, err, asked)
		}
	}
	refused("a run that was put back by two sums", second, now)
	refused("a run that was put back by a sum", third, now)
	refused("a ledger that was put back by two sums", fourth, early)
	// Two copies of one state: the first to draw goes on, at whatever time the other began.
	put(t, string(bytesOf(t, now)), s.dir, "budget.db")
	late, first := d, d
	late.Dir = filepath.Join(s.dir, "copy")
	copied(t, fourth, late.Dir)
	late.Engine = broken{do: func(r Round, p []Partial) ([]Partial, error) {
		if r.Task.Round == 4 { // the other draws meanwhile
			if _, err := first.Evaluate(t.Context()); err != nil {
				t.Error(err)
			}
		}
		return p, nil
	}}
	if _, err := late.Evaluate(t.Context()); !errors.Is(err, ledger.ErrRecorded) && !errors.Is(err, ledger.ErrRound) {
		t.Errorf("a copy that draws after another: %v", err)
	}
	// The ledger as it was one entry before.
	put(t, string(bytesOf(t, early)), s.dir, "budget.db")
	killed := d
	killed.Dir = filepath.Join(s.dir, "killed")
	copied(t, third, killed.Dir)
	if _, err := killed.Evaluate(t.Context()); err != nil {
		t.Errorf("a driver that was killed between a sum and its entry does not go on: %v", err)
	}
	l, err = ledger.Open(t.Context(), filepath.Join(s.dir, "budget.db"), "chain")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	rounds := 0
	for n, err := range l.Entries(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n.Kind == "round" {
			rounds++
		}
	}
	if err := l.Verify(t.Context()); err != nil || rounds != 5 {
		t.Errorf("%d rounds in the ledger, %v; want 5", rounds, err)
	}
}

func bytesOf(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
