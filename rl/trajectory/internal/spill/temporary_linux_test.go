package spill_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// open lists what the process has open in a directory, by the names under which this
// system still shows it.
func open(t *testing.T, dir string) (all []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if name, err := os.Readlink(link); err == nil && strings.HasPrefix(name, dir) {
			all = append(all, link)
		}
	}
	return all
}

// The files of rows have no names while they are open, nobody else may read them, and they
// are closed at the end. One that somebody cuts through what the system shows of the
// process is an error, and no part with fewer rows.
func TestTemporaryFilesHaveNoNames(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	w := spill.NewTemporary(0)
	for range 3 {
		if err := w.Put(5, 'r', make([]byte, 1<<14)); err != nil {
			t.Fatal(err)
		}
	}
	files := open(t, dir)
	if len(files) != 1 {
		t.Fatalf("%d files are open", len(files))
	}
	name, err := os.Readlink(files[0])
	if err != nil || !strings.HasSuffix(name, " (deleted)") {
		t.Errorf("the file has the name %q, %v", name, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if err := os.Truncate(files[0], 100); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Next(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), dir) {
		t.Errorf("of a file that was cut: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if files := open(t, dir); len(files) > 0 {
		t.Errorf("%d files are still open", len(files))
	}
}

// A disk that is full is told with the directory and what to do.
func TestAFullDiskOfTemporaryFilesIsNamed(t *testing.T) {
	if !limited(t) {
		return
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	w := spill.NewTemporary(0)
	var err error
	for i := 0; err == nil && i < 100; i++ {
		err = w.Put(0, 'r', make([]byte, 1<<12))
	}
	if err == nil || !strings.Contains(err.Error(), "temporary files in "+dir+":") || !strings.Contains(err.Error(), "TMPDIR") || !w.NoRoom() {
		t.Errorf("on a full disk: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
