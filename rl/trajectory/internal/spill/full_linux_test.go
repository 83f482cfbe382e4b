package spill_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// limited runs a test in a process of its own, of which no file grows beyond 64 KB: to whoever writes
// that is a full disk, and the log of the tests is not cut with it. In that process it gives true.
func limited(t *testing.T) bool {
	t.Helper()
	const here = "DISCREET_TEST_LIMITED"
	if os.Getenv(here) == "" {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		child.Env = append(os.Environ(), here+"=yes")
		if out, err := child.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS")) {
			t.Errorf("%v\n%s", err, out)
		}
		return false
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 16, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	return true
}

// TestAFullDiskIsNamed by who keeps parts in a directory.
func TestAFullDiskIsNamed(t *testing.T) {
	if !limited(t) {
		return
	}
	dir := t.TempDir()
	w := spill.NewWriter(dir, 2)
	record := bytes.Repeat([]byte{1}, 1<<12)
	var err error
	for i := 0; err == nil && i < 100; i++ {
		err = w.Put(0, 'r', record)
	}
	if err == nil || !strings.Contains(err.Error(), "could not be kept on disk in "+dir+":") {
		t.Errorf("on a full disk: %v", err)
	}
	if err := w.Close(); err == nil {
		t.Error("closing says nothing of what was not written")
	}
	if _, err := os.Stat(filepath.Join(dir, "group-0")); err != nil {
		t.Error(err)
	}
}
