package ledger_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"

	"github.com/discreet-rl/discreet/dp/ledger"
)

// cut takes the entries after one out of a store, with all that is kept of them.
func cut(t *testing.T, db *sql.DB, after int64) {
	t.Helper()
	for _, table := range []string{"ledger_releases", "ledger_charges", "ledger_entries"} {
		mustExec(t, db, `DELETE FROM `+table+` WHERE seq > $1`, after)
	}
	mustExec(t, db, `UPDATE ledger_charges SET recorded = NULL WHERE recorded > $1`, after)
	mustExec(t, db, `UPDATE ledger_datasets SET seq = $1, head = (SELECT hash FROM ledger_entries WHERE seq = $1)`, after)
}

// A store that is cut short under an open ledger is neither charged nor shown, whatever the
// ledger saw last: its own charge, or that of another process.
func TestAnOpenLedgerIsAWitnessOfItself(t *testing.T) {
	for _, what := range []string{"its own charge", "another's"} {
		t.Run(what, func(t *testing.T) {
			onEach(t, func(t *testing.T, location string) {
				ctx := context.Background()
				l := create(t, location, plain(someBudget))
				release(t, l, ask(little), "{}")
				if what == "another's" {
					release(t, open(t, location, "trial"), ask(little), "{}")
					if _, err := l.State(ctx); err != nil {
						t.Fatal(err)
					}
				}
				s, err := open(t, location, "trial").State(ctx)
				if err != nil {
					t.Fatal(err)
				}
				cut(t, raw(t, location), s.Head.Seq-1)
				_, stated := l.State(ctx)
				_, _, checked := l.BeginCheck(ctx, by("a"), 3)
				_, charged := l.Charge(ctx, ask(little))
				for name, err := range map[string]error{"state": stated, "fits": l.Fits(ctx, ask(little)), "check": checked, "charge": charged} {
					if !errors.Is(err, ledger.ErrBehind) {
						t.Errorf("%s: %v; want ErrBehind", name, err)
					}
				}
				if _, err := open(t, location, "trial").Charge(ctx, ask(little)); err != nil {
					t.Errorf("one that saw nothing of it: %v", err)
				}
			})
		})
	}
}

// A file whose bytes are those of an older copy, or of another ledger, has its name and its
// number still.
func TestBytesThatAreReplacedUnderAnOpenLedger(t *testing.T) {
	ctx := context.Background()
	for name, bytesOf := range map[string]func(t *testing.T, location string) []byte{
		"older copy": func(t *testing.T, location string) []byte { return read(t, location) },
		"another ledger": func(t *testing.T, _ string) []byte {
			other := stores[0].make(t)
			l := create(t, other, plain(someBudget))
			release(t, l, ask(little), "{}")
			release(t, l, ask(little), "{}")
			return read(t, other)
		},
	} {
		t.Run(name, func(t *testing.T) {
			location := stores[0].make(t)
			l := create(t, location, plain(someBudget))
			release(t, l, ask(little), "{}")
			text := bytesOf(t, location)
			release(t, l, ask(little), "{}")
			if err := os.WriteFile(location, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if s, err := l.State(ctx); !errors.Is(err, ledger.ErrBehind) && !errors.Is(err, ledger.ErrTampered) {
				t.Errorf("shown: %+v, %v", s, err)
			}
			if _, err := l.Charge(ctx, ask(little)); !errors.Is(err, ledger.ErrBehind) && !errors.Is(err, ledger.ErrTampered) {
				t.Errorf("charged: %v", err)
			}
		})
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
