package serve_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/serve"
)

// backedUp are the names of what is in the directory of backups.
func (h *house) backedUp(dir string) (names []string) {
	h.t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}

// gauge is the value of a metric without labels.
func (h *house) gauge(name string) string {
	h.t.Helper()
	for _, l := range h.scraped() {
		if value, ok := strings.CutPrefix(l, "discreet_curator_"+name+" "); ok {
			return value
		}
	}
	h.t.Fatalf("no metric %s", name)
	return ""
}

// The service backs itself up, keeps the newest, removes what a kill left half-written, and restores
// from each. A restart goes on from the last one; a disk that is away ages it, and is noticed when it
// is back.
func TestAServiceBacksItselfUp(t *testing.T) {
	h := furnish(t, "")
	dir := filepath.Join(h.dir, "backups")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{".writing-1", ".removing-2"} {
		if err := os.Mkdir(filepath.Join(dir, left), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := h.read("serve.yaml")
	every := func(d string) { h.write("serve.yaml", config+"backup: {path: backups, every: "+d+", keep: 2}\n") }
	every("1s")
	h.open()
	h.answered(0, 1)
	first := ""
	soon(t, "three backups", func() bool {
		names := slices.DeleteFunc(h.backedUp(dir), func(name string) bool { return strings.HasPrefix(name, ".") })
		if first == "" && len(names) > 0 {
			first = names[0]
		}
		return len(names) == 2 && names[0] > first
	})
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	names := h.backedUp(dir)
	for _, name := range names {
		if len(name) != len("20261128T060000.000Z") {
			t.Errorf("there is %s among %v", name, names)
		}
		h.restored(filepath.Join(dir, name))
	}
	every("24h")
	h.open()
	if age := h.gauge("backup_age_seconds"); strings.Contains(age, "Inf") || h.gauge("backup_every_seconds") != "86400" {
		t.Errorf("after a restart the last is %s s old, every %s", age, h.gauge("backup_every_seconds"))
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	every("1s")
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	h.open()
	if age := h.gauge("backup_age_seconds"); age != "+Inf" {
		t.Errorf("without a backup the last is %s s old", age)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	soon(t, "a backup on the disk that is back", func() bool { return h.gauge("backup_age_seconds") != "+Inf" })
}

// restored opens a service that is made of a backup alone, in which every ask that has an answer
// is paid for.
func (h *house) restored(dir string) {
	h.t.Helper()
	other := furnish(h.t, "asks_per_hour: 1000000")
	if done, err := other.config().Restore(h.t.Context(), dir, "a test", false); err != nil {
		h.t.Fatalf("%s: %q, %v", dir, done, err)
	}
	s, err := serve.Open(h.t.Context(), other.config())
	if err != nil {
		h.t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		h.t.Fatal(err)
	}
	other.charges()
}
