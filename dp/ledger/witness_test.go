package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/fault"
)

var little = dp.Gaussian{NoiseMultiplier: 100}

// copyFile is what cp does; a store of one file is whole at rest.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// refusedByWitness checks that nothing can be spent, and that nothing was.
func refusedByWitness(t *testing.T, l *ledger.Ledger, also error) {
	t.Helper()
	ctx := context.Background()
	before, err := l.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"charge": func() error { _, err := l.Charge(ctx, ask(little)); return err },
		"fits":   func() error { return l.Fits(ctx, ask(little)) },
		"budget": func() error { return l.SetBudget(ctx, dp.Budget{Epsilon: 9, Delta: 1e-6}, "more") },
		"share":  func() error { return l.SetShare(ctx, "ann", dp.Budget{Epsilon: 0.1, Delta: 1e-7}) },
		"verify": func() error { return l.Verify(ctx) },
		"asked":  func() error { _, err := l.Witnesses(ctx); return err },
	} {
		err := f()
		if !errors.Is(err, ledger.ErrWitness) || also != nil && !errors.Is(err, also) || fault.Of(err) != fault.RefusedFault {
			t.Errorf("%s: %v; want ErrWitness and %v, refused", name, err, also)
		}
		if also == nil && (errors.Is(err, ledger.ErrBehind) || errors.Is(err, ledger.ErrTampered)) {
			t.Errorf("%s: %v; the witness says nothing of the ledger", name, err)
		}
	}
	if after, err := l.State(ctx); err != nil || after.Head != before.Head {
		t.Errorf("the chain went from %v to %v, %v", before.Head, after.Head, err)
	}
}

// The case that led here: an old budget.db is put back, and nobody notices.
func TestAnOldStorePutBackIsNotCharged(t *testing.T) {
	ctx := context.Background()
	location, place := stores[0].make(t), filepath.Join(t.TempDir(), "head")
	l := create(t, location, plain(someBudget))
	if err := l.AddWitness(ctx, place); err != nil {
		t.Fatal(err)
	}
	release(t, l, ask(little), "one")
	old := location + ".old"
	copyFile(t, location, old)
	release(t, l, ask(little), "two")
	head := func(l *ledger.Ledger) chain.Head {
		s, err := l.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s.Head
	}
	all, err := l.Witnesses(ctx)
	if err != nil || len(all) != 1 || all[0].Place != place || all[0].Head.Seq != head(l).Seq-1 { // the record is not sent
		t.Fatalf("%v, %v; want the last charge", all, err)
	}
	l.Close()
	copyFile(t, old, location)
	back := open(t, location, "")
	refusedByWitness(t, back, ledger.ErrBehind)
	if err := back.AddWitness(ctx, place); !errors.Is(err, ledger.ErrWitness) || strings.Contains(err.Error(), "new witness") {
		t.Errorf("named again: %v; want ErrWitness, and no way around it", err)
	}
	// Charged on behind the witness's back, it has other entries.
	if err := back.RemoveWitness(ctx, place); err != nil {
		t.Fatal(err)
	}
	release(t, back, ask(little), "another two")
	release(t, back, ask(little), "three")
	if err := back.TellWitness(ctx, place); !errors.Is(err, ledger.ErrWitness) || !errors.Is(err, ledger.ErrTampered) {
		t.Errorf("accepted a head that it contradicts: %v", err)
	}
	mustExec(t, raw(t, location), `INSERT INTO ledger_witnesses (dataset, place) VALUES (1, $1)`, place)
	refusedByWitness(t, back, ledger.ErrTampered)
}

// TestWitnessThatCannotBeAskedRefuses, and that is mended by bringing it back or
// naming another.
func TestWitnessThatCannotBeAskedRefuses(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, place string) error{
		"gone":        func(t *testing.T, place string) error { return os.Remove(place) },
		"empty":       func(t *testing.T, place string) error { return os.Truncate(place, 0) },
		"cut":         func(t *testing.T, place string) error { return os.Truncate(place, 40) },
		"other text":  func(t *testing.T, place string) error { return os.WriteFile(place, []byte("hello\n"), 0o600) },
		"a directory": func(t *testing.T, place string) error { return errors.Join(os.Remove(place), os.Mkdir(place, 0o700)) },
		"other ledger": func(t *testing.T, place string) error {
			other := create(t, stores[0].make(t), plain(someBudget))
			return errors.Join(os.Remove(place), other.TellWitness(context.Background(), place))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			l := create(t, stores[0].make(t), plain(someBudget))
			place := filepath.Join(t.TempDir(), "head")
			if err := l.AddWitness(ctx, place); err != nil {
				t.Fatal(err)
			}
			release(t, l, ask(little), "one")
			kept, err := os.ReadFile(place)
			if err := errors.Join(err, spoil(t, place)); err != nil {
				t.Fatal(err)
			}
			refusedByWitness(t, l, nil)
			if err := errors.Join(os.RemoveAll(place), os.WriteFile(place, kept, 0o600)); err != nil {
				t.Fatal(err)
			}
			release(t, l, ask(little), "two")
			if err := os.Remove(place); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(l.RemoveWitness(ctx, place), l.AddWitness(ctx, place+"2")); err != nil {
				t.Fatal(err)
			}
			release(t, l, ask(little), "three")
			verified(t, l)
		})
	}
}

// A crash after the charge and before its note leaves the witness behind, and one in
// the note a line that is cut short. Both go on.
func TestACrashLeavesTheWitnessBehind(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	place := filepath.Join(t.TempDir(), "head")
	if err := l.AddWitness(ctx, place); err != nil {
		t.Fatal(err)
	}
	release(t, l, ask(little), "one")
	before, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	release(t, l, ask(little), "two")
	after, err := os.ReadFile(place)
	if err != nil || !bytes.HasPrefix(after, before) || bytes.Count(after, []byte("\n")) != 3 {
		t.Fatalf("%q after %q, %v; want one more line", after, before, err)
	}
	for cut := len(before); cut < len(after); cut++ {
		if err := os.WriteFile(place, after[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want := int64(1)
		if cut == len(after)-1 { // the newline alone: nothing of the head
			want = 3
		}
		all, err := l.Witnesses(ctx)
		if err != nil || all[0].Head.Seq != want {
			t.Fatalf("cut to %d of %d bytes: %v, %v; want entry %d", cut, len(after), all, err, want)
		}
	}
	g := release(t, l, ask(little), "three")
	all, err := l.Witnesses(ctx)
	if err != nil || all[0].Head.Seq != g.Entry.Seq || all[0].Head.Hash != g.Entry.Hash {
		t.Errorf("%v, %v; want entry %d", all, err, g.Entry.Seq)
	}
}

// TestWitnessOfManyAtOnce: however their notes interleave, none is ahead, and in the
// end the highest is known.
func TestWitnessOfManyAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		place := filepath.Join(t.TempDir(), "head")
		if err := l.AddWitness(ctx, place); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			own := open(t, location, "")
			all.Go(func() {
				for range 5 {
					if _, err := own.Charge(ctx, ask(little)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		known, err := l.Witnesses(ctx)
		if err != nil || len(known) != 1 || known[0].Head.Seq != 20 {
			t.Errorf("%v, %v; want entry 20", known, err)
		}
		text, err := os.ReadFile(place)
		if err != nil || strings.Count(string(text), "\n") != 21 || strings.Count(string(text), `"hash":"`) != 21 {
			t.Errorf("%q, %v; want 21 lines", text, err)
		}
	})
}

// A restored ledger is another than its witness knows. The witness shows what was
// lost, and the restored ledger takes a new one.
func TestWitnessAndRestore(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	place := filepath.Join(t.TempDir(), "head")
	if err := l.AddWitness(ctx, place); err != nil {
		t.Fatal(err)
	}
	release(t, l, ask(little), "one")
	b := backup(t, l)
	restore := func(o ledger.RestoreOptions) (*ledger.Ledger, error) {
		o.Reason, o.Witnesses = "r", []string{place}
		r, err := ledger.Restore(ctx, bytes.NewReader(b), stores[0].make(t), o)
		if err == nil {
			t.Cleanup(func() { r.Close() })
		}
		return r, err
	}
	if _, err := restore(ledger.RestoreOptions{LostNothing: true}); err != nil {
		t.Errorf("nothing was lost, as the witness says: %v", err)
	}
	release(t, l, ask(little), "two")
	if _, err := restore(ledger.RestoreOptions{LostNothing: true}); !errors.Is(err, ledger.ErrBehind) {
		t.Errorf("something was lost, as the witness says: %v; want ErrBehind", err)
	}
	r, err := restore(ledger.RestoreOptions{Lost: little})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte(place)) {
		t.Error("the backup names the witness")
	}
	if s, err := r.State(ctx); err != nil || len(s.Witnesses) != 0 {
		t.Errorf("witnesses of a restored ledger: %v, %v", s.Witnesses, err)
	}
	if err := r.AddWitness(ctx, place); !errors.Is(err, ledger.ErrWitness) || !strings.Contains(err.Error(), "name a new witness") {
		t.Errorf("the old witness: %v; want ErrWitness, and what to do", err)
	}
	if err := r.AddWitness(ctx, place+"2"); err != nil {
		t.Error(err)
	}
	release(t, r, ask(little), "on")
}

// Lines that are appended later hide no head: of the longest file all is read.
func TestLinesAppendedHideNoHead(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	place := filepath.Join(t.TempDir(), "head")
	if err := l.AddWitness(ctx, place); err != nil {
		t.Fatal(err)
	}
	one, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	future := fmt.Appendf(nil, `{"ledger":%q,"dataset":"trial","seq":99,"hash":"%064d"}`+"\n", l.Opening().Ledger, 0)
	other := bytes.Replace(future, []byte(`0"}`), []byte(`1"}`), 1)
	put := func(text ...[]byte) {
		t.Helper()
		if err := os.WriteFile(place, bytes.Join(text, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{600, 20_000} {
		old := bytes.Repeat(one, n)
		put(old)
		g := release(t, l, ask(little), fmt.Sprint(n))
		if all, err := l.Witnesses(ctx); err != nil || all[0].Head.Seq != g.Entry.Seq {
			t.Errorf("%d lines: %v, %v; want entry %d", n, all, err, g.Entry.Seq)
		}
		put(one, future, old)
		refusedByWitness(t, l, ledger.ErrBehind)
	}
	put(one, future, bytes.Repeat([]byte("x"), 1<<20), []byte("\n"), one)
	refusedByWitness(t, l, ledger.ErrBehind)
	put(future, one, other)
	refusedByWitness(t, l, nil)
}

// A witness that is named from the beginning knows the first entry, and refuses that another ledger
// begins, whose budget would be that of the one it knows again.
func TestALedgerBeginsWithItsWitness(t *testing.T) {
	dir := t.TempDir()
	c := ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, Witness: filepath.Join(dir, "heads.ndjson")}
	l, err := ledger.Create(t.Context(), filepath.Join(dir, "budget.db"), c)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := l.Witnesses(t.Context()); err != nil || len(all) != 1 || all[0].Place != c.Witness || all[0].Head.Seq != 0 {
		t.Errorf("%v, %v", all, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	if _, err := ledger.Create(t.Context(), other, c); !errors.Is(err, ledger.ErrWitness) {
		t.Errorf("another begins: %v", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("its file is left")
	}
	c.Witness = "git:"
	if _, err := ledger.Create(t.Context(), other, c); !errors.Is(err, ledger.ErrConfig) {
		t.Errorf("a place that cannot be: %v", err)
	}
}
