package serve_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"
	_ "modernc.org/sqlite"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// answered asks so many questions, one after the other.
func (h *house) answered(from, to int) {
	h.t.Helper()
	for i := from; i < to; i++ {
		if a := h.end("ann", h.ask("ann", fmt.Sprintf("%s-%d", oneKey, i), wish(0.2))); a.GetState() != curatorv1.State_STATE_RELEASED {
			h.t.Fatalf("ask %d ended as %v", i, a)
		}
	}
}

// foreign is the ledger of another service about the same data, with a charge.
func foreign(t *testing.T) string {
	t.Helper()
	other := opened(t, "")
	other.answered(0, 2)
	if err := other.stop(); err != nil {
		t.Fatal(err)
	}
	return other.read("budget.db")
}

// losses are what can happen to the file of a ledger from which an older copy was made.
func losses(t *testing.T) map[string]func(h *house, older string) {
	begun := func(h *house, _ string) {
		h.remove("budget.db")
		l, err := ledger.Create(t.Context(), filepath.Join(h.dir, "budget.db"), ledger.Config{Dataset: "pbc", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 3, Delta: 1e-5}})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]func(h *house, older string){
		"removed":             func(h *house, _ string) { h.remove("budget.db") },
		"emptied":             func(h *house, _ string) { h.write("budget.db", "") },
		"older copy":          func(h *house, older string) { h.remove("budget.db"); h.write("budget.db", older) },
		"older bytes":         func(h *house, older string) { h.write("budget.db", older) },
		"another's":           func(h *house, _ string) { h.remove("budget.db"); h.write("budget.db", foreign(t)) },
		"another's bytes":     func(h *house, _ string) { h.write("budget.db", foreign(t)) },
		"begun by hand":       begun,
		"entries cut off":     func(h *house, _ string) { h.cut(1) },
		"all but one cut off": func(h *house, _ string) { h.cut(3) },
	}
}

func (h *house) remove(name string) {
	h.t.Helper()
	if err := os.Remove(filepath.Join(h.dir, name)); err != nil {
		h.t.Fatal(err)
	}
}

// cut takes the last releases, with their charges, out of the ledger's tables.
func (h *house) cut(releases int) {
	h.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "budget.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	for range releases {
		for _, query := range []string{
			`DROP TRIGGER IF EXISTS ledger_entries_no_delete`, `DROP TRIGGER IF EXISTS ledger_releases_no_delete`,
			`DELETE FROM ledger_releases WHERE seq = (SELECT max(seq) FROM ledger_charges)`,
			`DELETE FROM ledger_entries WHERE seq >= (SELECT max(seq) FROM ledger_charges)`,
			`DELETE FROM ledger_charges WHERE seq = (SELECT max(seq) FROM ledger_charges)`,
			`UPDATE ledger_datasets SET seq = (SELECT max(seq) FROM ledger_entries), head = (SELECT hash FROM ledger_entries ORDER BY seq DESC LIMIT 1)`,
		} {
			if _, err := db.ExecContext(context.Background(), query); err != nil {
				h.t.Fatalf("%s: %v", query, err)
			}
		}
	}
}

// A service does not start with a ledger that lacks what its store knows was charged, and
// begins none in the place of one that is gone; its words name the remedy.
func TestALedgerThatLacksWhatWasChargedStartsNoService(t *testing.T) {
	for name, lose := range losses(t) {
		t.Run(name, func(t *testing.T) {
			h := opened(t, "")
			h.answered(0, 1)
			if err := h.stop(); err != nil {
				t.Fatal(err)
			}
			older := h.read("budget.db")
			h.open()
			h.answered(1, 4)
			if err := h.stop(); err != nil {
				t.Fatal(err)
			}
			newest := h.read("budget.db")
			lose(h, older)
			for range 2 { // the second finds what the first left
				s, err := serve.Open(t.Context(), h.config())
				if err == nil {
					t.Fatal(errors.Join(errors.New("the service starts"), s.Close()))
				}
				for _, want := range []string{"pbc", "bring back the newest ledger", "discreet ledger restore"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the words lack %q: %v", want, err)
					}
				}
			}
			h.write("budget.db", newest)
			h.open()
			h.answered(4, 5)
		})
	}
}

// Under a running service a ledger that is gone or was replaced takes no charge, and no
// budget, plan or grant comes of it. Asks wait, and the steward reads why.
func TestALedgerIsReplacedUnderAService(t *testing.T) {
	for name, lose := range losses(t) {
		t.Run(name, func(t *testing.T) {
			h := opened(t, "approval: steward")
			approve := func(key string) *curatorv1.AskState {
				t.Helper()
				id := h.ask("ann", oneKey+key, wish(0.2))
				if _, err := h.steward().Decide(t.Context(), &curatorv1.DecideRequest{Id: id, Approve: true}); err != nil {
					t.Fatal(err)
				}
				return h.end("ann", id)
			}
			approve("-0")
			older := h.read("budget.db")
			for _, key := range []string{"-1", "-2", "-3"} {
				approve(key)
			}
			waiting := h.ask("ann", oneKey+"-4", wish(0.2))
			lose(h, older)
			changed := h.ledgerBytes()
			for _, person := range []string{"ann", "stella", "arthur"} {
				if b, err := h.client(person).GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"}); code(err) != connect.CodeUnavailable {
					t.Errorf("%s is shown the budget %v, %v", person, b, err)
				}
			}
			if p, err := h.client("ann").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: wish(0.5)}); code(err) != connect.CodeUnavailable {
				t.Errorf("planned: %v, %v", p, err)
			}
			if _, err := h.client("ann").Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.2), Key: oneKey + "-5"}); code(err) != connect.CodeUnavailable {
				t.Errorf("asked: %v", err)
			}
			if _, err := h.steward().SetBudget(t.Context(), &curatorv1.SetBudgetRequest{Dataset: "pbc", Budget: &curatorv1.Budget{Epsilon: 9, Delta: 1e-5}, Reason: "more"}); code(err) != connect.CodeUnavailable {
				t.Errorf("a grant: %v", err)
			}
			if _, err := h.steward().Decide(t.Context(), &curatorv1.DecideRequest{Id: waiting, Approve: true}); err != nil {
				t.Fatal(err)
			}
			for told := false; !told; { // until the worker has met the ledger
				list, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"})
				if err != nil || len(list.GetNotices()) == 0 || !strings.Contains(list.GetNotices()[0].GetText(), "bring back the newest ledger") {
					t.Fatalf("the steward reads %v, %v", list, err)
				}
				for _, n := range list.GetNotices() {
					told = told || n.GetAsk() == waiting
				}
			}
			if a, err := h.client("ann").GetAsk(t.Context(), &curatorv1.GetAskRequest{Id: waiting}); err != nil || a.GetAsk().GetState() != curatorv1.State_STATE_QUEUED {
				t.Errorf("the ask is %v, %v; want it to wait", a, err)
			}
			if !bytes.Equal(changed, h.ledgerBytes()) {
				t.Error("something was written to the ledger")
			}
		})
	}
}

// ledgerBytes is nil where there is no file.
func (h *house) ledgerBytes() []byte {
	text, err := os.ReadFile(filepath.Join(h.dir, "budget.db"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
	return text
}

// A ledger that was restored with what was charged after its backup debited is served on. One
// of which that was denied is not, and no more is one that was rolled back after it.
func TestARestoredLedgerIsServedOn(t *testing.T) {
	for name, c := range map[string]struct {
		lost   ledger.RestoreOptions
		starts bool
	}{
		"everything": {ledger.RestoreOptions{LostEverything: true, Reason: "a test"}, true},
		"an event":   {ledger.RestoreOptions{Lost: dp.Gaussian{NoiseMultiplier: 5}, Reason: "a test"}, true},
		"nothing":    {ledger.RestoreOptions{LostNothing: true, Reason: "a test"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := opened(t, "")
			h.answered(0, 1)
			var backup bytes.Buffer
			l, err := ledger.Open(t.Context(), filepath.Join(h.dir, "budget.db"), "pbc")
			if err == nil {
				err = errors.Join(l.Backup(t.Context(), &backup), l.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			h.answered(1, 3)
			if err := h.stop(); err != nil {
				t.Fatal(err)
			}
			h.remove("budget.db")
			l, err = ledger.Restore(t.Context(), &backup, filepath.Join(h.dir, "budget.db"), c.lost)
			if err == nil {
				err = errors.Join(l.SetBudget(t.Context(), dp.Budget{Epsilon: 9, Delta: 3e-5}, "what was lost was counted"), l.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := serve.Open(t.Context(), h.config())
			if (err == nil) != c.starts {
				t.Fatalf("starts: %v", err)
			}
			if !c.starts {
				return
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			older := h.read("budget.db")
			h.open()
			h.answered(3, 5)
			if err := h.stop(); err != nil {
				t.Fatal(err)
			}
			h.write("budget.db", older)
			if s, err := serve.Open(t.Context(), h.config()); err == nil {
				t.Error(errors.Join(errors.New("rolled back after the restore, it starts"), s.Close()))
			}
		})
	}
}

// An older ledger that lacks only what another program charged is known to a witness alone:
// its budget is shown to nobody.
func TestALedgerThatAWitnessRefusesShowsNoBudget(t *testing.T) {
	for _, publish := range []string{"at once", "every 1h"} {
		h := opened(t, "publish: "+publish)
		if err := h.stop(); err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Open(t.Context(), filepath.Join(h.dir, "budget.db"), "pbc")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.AddWitness(t.Context(), filepath.Join(h.dir, "heads.ndjson")); err != nil {
			t.Fatal(err)
		}
		older := h.read("budget.db")
		_, err = l.Charge(t.Context(), ledger.Charge{Key: ledger.NewKey(), Analyst: "ann", Purpose: "another program", Event: dp.Gaussian{NoiseMultiplier: 8}, Adjacency: dp.ReplaceOne, ConfigHash: "c", Contract: 1})
		if err := errors.Join(err, l.Close()); err != nil {
			t.Fatal(err)
		}
		h.write("budget.db", older) // before the service has seen the charge
		h.open()
		for _, who := range []string{"ann", "stella"} {
			b, err := h.client(who).GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
			if code(err) != connect.CodeUnavailable || strings.Contains(err.Error(), "heads.ndjson") {
				t.Errorf("%s: %v, %v; want unavailable, and no place", who, b, err)
			}
		}
	}
}
