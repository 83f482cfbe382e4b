package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCreateTakesAFreeNameOnly and no name before the file is whole.
func TestCreateTakesAFreeNameOnly(t *testing.T) {
	for name, way := range map[string]func(from, to string) error{"link": move, "claim": claim} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "backup")
			create := func(text string) error {
				return through(dir, path, 0o600, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }, way)
			}
			var made, refused atomic.Int64
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					switch err := create(strconv.Itoa(i)); {
					case err == nil:
						made.Add(1)
					case errors.Is(err, fs.ErrExist):
						refused.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			all.Wait()
			if made.Load() != 1 || refused.Load() != 7 {
				t.Errorf("%d made one file, %d were refused", made.Load(), refused.Load())
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestCreateLeavesNothingUnderTheNameUntilTheEnd, which is what a kill leaves.
func TestCreateLeavesNothingUnderTheNameUntilTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "backup")
	broken := errors.New("broken off")
	err := Create(path, 0o600, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the name is taken before the file is whole: %v", err)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v; want what broke it off", err)
	}
	if err := Create(path, 0o600, func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "whole" {
		t.Errorf("%q, %v", text, err)
	}
	err = Create(path, 0o600, func(io.Writer) error { t.Error("work was done for a name that is taken"); return nil })
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file of the name: %v; want ErrExist", err)
	}
}

// TestCreateGivesWayToWhoWasFirst: another file took the name while this one was
// written.
func TestCreateGivesWayToWhoWasFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "backup")
	first := func(w io.Writer) error { _, err := io.WriteString(w, "first"); return err }
	err := Create(path, 0o600, func(io.Writer) error { return Create(path, 0o600, first) })
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v; want ErrExist", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "first" {
		t.Errorf("%q, %v", text, err)
	}
}
