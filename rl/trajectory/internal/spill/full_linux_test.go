package spill_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// limited has no file grow beyond 64 KB, which is what a full disk is to who writes.
func limited(t *testing.T) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 16, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Error(err)
		}
	})
}

// TestAFullDiskIsNamed by who keeps parts in a directory.
func TestAFullDiskIsNamed(t *testing.T) {
	limited(t)
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
