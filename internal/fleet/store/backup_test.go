package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/fleet/store"
)

// backups: a store that is backed up while it is open, lost and restored, has what was there then; its runs have ended, its round
// takes nothing more, and permits of later runs have numbers above all that were ever given. What is there is not touched.
func backups(t *testing.T, p place) {
	s := begun(t, p)
	if _, err := s.Draw(t.Context(), run, 1, []store.Draw{drawing(1, 0, "x"), drawing(2, 0, "y")}, 9, 0); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Commit(t.Context(), run, 1, []store.Report{{Nullifier: nullifier(1), Body: []byte("b")}}, 0); err != nil || out[0] != store.ReportAccepted {
		t.Fatal(out, err)
	}
	dir := filepath.Join(t.TempDir(), "backup")
	m, err := store.Backup(t.Context(), p.location, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Backup(t.Context(), p.location, dir); err == nil {
		t.Error("a backup was written over")
	}
	lead(t, s, 1, store.Result{Accepted: 1, Next: next}) // after the backup
	for range 2 {
		if made, err := store.Restore(t.Context(), p.location, dir, m, time.Now()); err != nil || made {
			t.Errorf("where there is a store: %v, %v", made, err)
		}
	}
	if r, err := s.Round(t.Context(), run, 2); err != nil || r.State != store.StateOpen {
		t.Errorf("it was touched: %+v, %v", r, err)
	}
	read, err := store.ReadBackup(dir)
	if err != nil {
		t.Fatal(err)
	}
	to := again(t, p) // an empty one
	when := time.Unix(1_900_000_000, 0)
	if made, err := store.Restore(t.Context(), to.location, dir, read, when); err != nil || !made {
		t.Fatalf("%v, %v", made, err)
	}
	back := open(t, to)
	if r, err := back.Run(t.Context(), run); err != nil || !r.Ended {
		t.Errorf("the run: %+v, %v", r, err)
	}
	if r, err := back.Latest(t.Context(), run, 9); err != nil || len(r) != 1 || r[0].State != store.StateClosing {
		t.Errorf("rounds: %+v, %v", r, err)
	}
	if n, err := back.Count(t.Context(), run, 1); err != nil || n != 1 {
		t.Errorf("%d reports, %v", n, err)
	}
	if out, err := back.Draw(t.Context(), run, 1, []store.Draw{drawing(3, 0, "z")}, 9, 0); err != nil || out[0].Closed != store.ReportStale {
		t.Errorf("a permit of the run that was put back: %+v, %v", out, err)
	}
	other := store.RunID{9}
	if err := back.CreateRun(t.Context(), store.Run{ID: other, Settings: "{}"}, store.Signed{Spec: []byte("spec"), Signature: []byte("s")}, store.Policy{Weights: []byte("w0"), Optimizer: "o0"}); err != nil {
		t.Fatal(err)
	}
	if _, err := back.OpenRound(t.Context(), other, next); err != nil {
		t.Fatal(err)
	}
	d := drawing(1, 7, "after")
	d.Here = drawing(11, 0, "").Place
	for range 2 {
		if out, err := back.Draw(t.Context(), other, 1, []store.Draw{d}, 9, 0); err != nil || out[0].Number != 1_900_000_000<<store.EraBits+1 || out[0].Round != 1 {
			t.Errorf("a permit of the next run: %+v, %v", out, err)
		}
	}
	// What was changed, or not finished, restores nothing.
	for _, name := range append(read.Store, "manifest.json") {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, changed := range []string{"", string(text[:len(text)/2])} {
			if len(text) == len(changed) {
				continue // a table without rows
			}
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := store.ReadBackup(dir); err == nil {
				t.Errorf("%s of %d bytes is taken", name, len(changed))
			}
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasPrefix(p.location, "postgres:") {
		if _, err := store.Restore(t.Context(), lite(t).location, dir, read, when); err == nil {
			t.Error("tables became a file")
		}
	}
}
