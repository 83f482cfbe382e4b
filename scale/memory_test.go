package scale

import (
	"path/filepath"
	"runtime"
	"testing"
)

// TestWhatIsKeptIsCounted: what a worker says that it keeps is at least what the memory
// grows by, of each method, but for 2 MB that all questions take.
func TestWhatIsKeptIsCounted(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what a pool held
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	shards, err := write(people(t, 20000, 3), filepath.Join(t.TempDir(), "large"), 4, [16]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	for name, overrides := range map[string][]string{
		"dp-wis":    nil,
		"dp-refine": {"method={name: dp-refine}", "target={kind: logged}", "data.behavior=null"},
		"dp-fqe":    {"method={name: dp-fqe}"},
		"dp-lsw":    {"method={name: dp-lsw, constants: balle16}", "target={kind: logged}", "data.behavior=null"},
	} {
		s := newStage(t, append(overrides, "problem.persons=20000")...)
		s.shards = shards
		d := s.driver(t)
		var w Worker
		d.Engine = Local{Workers: 1, worker: &w}
		before := heap()
		if _, err := d.Evaluate(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if held := heap() - before; len(w.last.shards) != 4 || held > w.last.bytes+2<<20 {
			t.Errorf("%s: %d shards are kept and %d bytes are said, %d held", name, len(w.last.shards), w.last.bytes, held)
		}
		t.Logf("%s: said %d, held %d", name, w.last.bytes, heap()-before)
		runtime.KeepAlive(&w)
	}
}
