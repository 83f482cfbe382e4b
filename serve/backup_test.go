package serve_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// gone removes files of a service that is stopped.
func (h *house) gone(names ...string) {
	h.t.Helper()
	for _, name := range names {
		for _, rest := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(filepath.Join(h.dir, name+rest)); err != nil && !os.IsNotExist(err) {
				h.t.Fatal(err)
			}
		}
	}
}

// A service is backed up while it runs, loses everything, and is restored: what was charged after
// the backup is booked as spent, and it goes on when the steward has granted more.
func TestAServiceIsRestored(t *testing.T) {
	h := opened(t, "")
	h.answered(0, 1)
	backup := filepath.Join(t.TempDir(), "backup")
	if err := h.config().Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := h.config().Backup(t.Context(), backup); err == nil {
		t.Error("a backup was written over")
	}
	all, err := os.ReadDir(backup)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	h.answered(1, 2)
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.gone("curator.db", "budget.db", "tokens")
	done, err := h.config().Restore(t.Context(), backup, "a test", false)
	if err != nil {
		t.Fatalf("%q, %v", done, err)
	}
	if said := strings.Join(done, "\n"); !strings.Contains(said, "booked as spent") || !strings.Contains(said, "the store is that of") || !strings.Contains(said, "tokens are those") {
		t.Errorf("it says %s", said)
	}
	if done, err := h.config().Restore(t.Context(), backup, "a test", false); err != nil || len(done) != 0 {
		t.Errorf("again: %q, %v", done, err)
	}
	h.open()
	if r, err := h.client("ann").Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.2), Key: oneKey + "-more"}); err == nil {
		t.Errorf("asked with nothing left: %v", r)
	}
	if _, err := h.steward().SetBudget(t.Context(), &curatorv1.SetBudgetRequest{Dataset: "pbc", Budget: &curatorv1.Budget{Epsilon: 9, Delta: 3e-5}, Reason: "what was lost was counted"}); err != nil {
		t.Fatal(err)
	}
	h.answered(2, 3)
}

// That nothing was charged after a backup is believed unless the store or a witness knows better.
func TestNothingWasChargedAfterABackup(t *testing.T) {
	for _, lost := range []string{"budget.db", "curator.db"} {
		for _, more := range []int{0, 1} {
			t.Run(fmt.Sprint(lost, more), func(t *testing.T) {
				h := opened(t, "witness: heads.ndjson")
				h.answered(0, 1)
				backup := filepath.Join(t.TempDir(), "backup")
				if err := h.config().Backup(t.Context(), backup); err != nil {
					t.Fatal(err)
				}
				h.answered(1, 1+more)
				if err := h.stop(); err != nil {
					t.Fatal(err)
				}
				h.gone(lost)
				done, err := h.config().Restore(t.Context(), backup, "a test", true)
				if refused := lost == "budget.db" && more > 0; (err != nil) != refused {
					t.Fatalf("%q, %v", done, err)
				} else if refused {
					return
				}
				h.open()
				h.answered(1, 3)
				if all, pending := h.charges(); all != 3 || pending != 0 {
					t.Errorf("%d charges, %d pending", all, pending)
				}
			})
		}
	}
}

// A backup that is not whole, and one that was changed, restores nothing.
func TestABackupThatIsNotWhole(t *testing.T) {
	h := opened(t, "")
	h.answered(0, 1)
	backup := filepath.Join(t.TempDir(), "backup")
	if err := h.config().Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.gone("budget.db")
	for _, name := range []string{"manifest.json", "store.db", "ledger-pbc", "tokens"} {
		path := filepath.Join(backup, name)
		text := readFile(t, path)
		for _, changed := range []string{"", text[:len(text)/2]} {
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			if done, err := h.config().Restore(t.Context(), backup, "a test", false); err == nil || len(done) > 0 {
				t.Errorf("%s of %d bytes: %q, %v", name, len(changed), done, err)
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(h.dir, "budget.db")); err == nil {
		t.Error("a ledger was made")
	}
}

// A witness of the configuration is named on the ledger, and refuses a ledger that is begun where
// one was lost with the store.
func TestAWitnessOutlivesAllElse(t *testing.T) {
	h := opened(t, "witness: heads.ndjson")
	h.answered(0, 1)
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.gone("budget.db", "curator.db")
	for range 2 {
		s, err := serve.Open(t.Context(), h.config())
		if err == nil {
			t.Fatal("a new ledger begins", s.Close())
		}
		if !strings.Contains(err.Error(), "would give its budget back") {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(h.dir, "budget.db")); err == nil {
		t.Error("a ledger was made")
	}
	_, err := ledger.Create(t.Context(), filepath.Join(h.dir, "budget.db"), ledger.Config{
		Dataset: "pbc", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1}, Witness: filepath.Join(h.dir, "heads.ndjson")})
	if err == nil {
		t.Error("begun by hand, it takes the witness of another")
	}
}

// A loss is told by /readyz without its words, by a metric and by the steward's notices; and so is
// its end.
func TestALossIsToldEverywhere(t *testing.T) {
	h := opened(t, "")
	h.answered(0, 1)
	get := func(path string) (int, string) {
		t.Helper()
		r, err := http.Get(h.url + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		if err := errors.Join(err, r.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(text)
	}
	told := func(lost bool) {
		t.Helper()
		status, text := get("/readyz")
		if (status == http.StatusServiceUnavailable) != lost || strings.Contains(text, "ledger") {
			t.Errorf("lost %v: /readyz answers %d %s", lost, status, text)
		}
		want := map[bool]string{true: "datasets_out_of_order 1", false: "datasets_out_of_order 0"}[lost]
		if _, text := get("/metrics"); !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
		n, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"})
		if err != nil || strings.Contains(n.GetNotices()[0].GetText(), "nothing is charged") != lost || (n.FailedChecks == nil) != lost {
			t.Errorf("lost %v: the steward reads %v, %v", lost, n, err)
		}
	}
	told(false)
	place := filepath.Join(h.dir, "budget.db")
	if err := os.Rename(place, place+".away"); err != nil {
		t.Fatal(err)
	}
	told(true)
	if err := os.Rename(place+".away", place); err != nil {
		t.Fatal(err)
	}
	told(false)
	h.set(`DELETE FROM curator_audit WHERE seq = (SELECT max(seq) FROM curator_audit)`)
	told(true)
}
