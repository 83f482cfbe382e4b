package oracle_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/internal/oracle"
)

// witness notes a failure instead of failing; Fatal must end the goroutine, and
// a panic does.
type witness struct {
	testing.TB
	failed bool
}

func (w *witness) Helper()               {}
func (w *witness) Fatal(...any)          { w.failed = true; panic(w) }
func (w *witness) Fatalf(string, ...any) { w.failed = true; panic(w) }

func load(t *testing.T, path string) (v []int, failed bool) {
	w := &witness{TB: t}
	defer func() {
		if p := recover(); p != nil && p != any(w) {
			panic(p)
		}
		failed = w.failed
	}()
	return oracle.Load[[]int](w, path), false
}

func TestLoad(t *testing.T) {
	for text, good := range map[string]bool{"[1, 2]\n": true, "[1, 2] [3]": false, "[1,": false, "{}": false} {
		path := filepath.Join(t.TempDir(), "v.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v, failed := load(t, path)
		if failed == good || good && (len(v) != 2 || v[1] != 2) {
			t.Errorf("%q: %v, failed %v", text, v, failed)
		}
	}
	if _, failed := load(t, "testdata/none.json"); !failed {
		t.Error("a missing file was loaded")
	}
}
