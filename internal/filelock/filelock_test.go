package filelock_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-rl/discreet/internal/filelock"
)

func ExampleTake() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	l, err := filelock.Take(filepath.Join(dir, "lock"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, second := filelock.Take(filepath.Join(dir, "lock"))
	fmt.Println(errors.Is(second, filelock.ErrHeld), l.Release())
	// Output: true <nil>
}

// Of many that take and release a lock at once, never two hold it, and it leaves no
// file behind.
func TestOneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var holders, taken atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				l, err := filelock.Take(path)
				if errors.Is(err, filelock.ErrHeld) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders", n)
				}
				taken.Add(1)
				holders.Add(-1)
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if taken.Load() == 0 {
		t.Error("nobody took it")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}
