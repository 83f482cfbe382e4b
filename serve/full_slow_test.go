//go:build slow && linux

package serve_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/pgtest"
)

// readyIs waits until /readyz answers so.
func (h *house) readyIs(want int) {
	h.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		answer, err := http.Get(h.url + "/readyz")
		if err != nil {
			h.t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode == want {
			return
		}
		if time.Now().After(end) {
			h.t.Fatalf("/readyz answers %d; want %d", answer.StatusCode, want)
		}
	}
}

// A full disk is not ready, whichever of the service's it is, and is again when there is room.
func TestAFullDiskIsNotReady(t *testing.T) {
	for _, which := range []string{"the ledger", "the store"} {
		t.Run(which, func(t *testing.T) {
			dir := t.TempDir()
			if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4194304,mode=0700"); err != nil {
				if pgtest.Required() {
					t.Fatalf("a small disk cannot be mounted, which needs root: %v", err)
				}
				t.Skipf("NOT TESTED ON A FULL DISK: mounting a small one needs root: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
			h := furnish(t, "")
			if which == "the ledger" {
				h.write("pbc.yaml", strings.Replace(h.read("pbc.yaml"), "path: budget.db", "path: "+dir+"/budget.db", 1))
			} else {
				h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "store: curator.db", "store: "+dir+"/curator.db", 1))
			}
			h.open()
			if _, err := os.Stat(filepath.Join(dir, map[string]string{"the ledger": "budget.db", "the store": "curator.db"}[which])); err != nil {
				t.Fatal(err)
			}
			h.readyIs(http.StatusOK)
			full, err := os.Create(filepath.Join(dir, "full"))
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = full.Write(make([]byte, 4096))
			}
			h.readyIs(http.StatusServiceUnavailable)
			if err := os.Remove(full.Name()); err != nil {
				t.Fatal(err)
			}
			full.Close()
			h.readyIs(http.StatusOK)
		})
	}
}

// A database that is away is not ready, and is again when it is back.
func TestADatabaseThatIsAwayIsNotReady(t *testing.T) {
	p, err := pgtest.Start(pgtest.Memory())
	if err != nil {
		if pgtest.Required() {
			t.Fatal(err)
		}
		t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
	}
	t.Cleanup(p.Stop)
	schema, err := p.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	h := furnish(t, "")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "store: curator.db", "store: '"+schema+"'", 1))
	h.open()
	h.readyIs(http.StatusOK)
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	h.readyIs(http.StatusServiceUnavailable)
	if err := p.Restart(); err != nil {
		t.Fatal(err)
	}
	h.readyIs(http.StatusOK)
}
