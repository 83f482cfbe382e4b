//go:build slow && linux

package ledger_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/discreet-rl/discreet/internal/pgtest"
)

// smallDisk mounts a file system of a few bytes in memory, which only root may.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "full")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0777", size)); err != nil {
		os.Remove(dir)
		if pgtest.Required() {
			t.Fatalf("a small disk cannot be mounted, which needs root: %v", err)
		}
		t.Skipf("NOT TESTED ON A FULL DISK: mounting a small one needs root: %v", err)
	}
	t.Cleanup(func() {
		syscall.Unmount(dir, syscall.MNT_DETACH)
		os.RemoveAll(dir)
	})
	return dir
}
