package scan

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// inStretches reads a stream by stretches, each of which one worker takes from the file
// to its findings, so that workers wait for each other nowhere but at the end. It reports
// false where the data cannot be cut, and where one reader is to say what is wrong with them:
// they are then opened anew.
func (a *assembly) inStretches(s *file.Stream) bool {
	workers := runtime.GOMAXPROCS(0)
	if workers < 2 {
		return false
	}
	cut := s.Cut(workers)
	if cut == nil {
		return false
	}
	t := &stretches{assembly: a, all: s, cut: cut, findings: make([]*findings, len(cut))}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(t.work)
	}
	wg.Wait()
	return t.joined == len(cut) && s.Joined()
}

// stretches is a cut stream that is being read.
type stretches struct {
	*assembly
	all  *file.Stream
	cut  []*file.Stream
	next atomic.Int64 // to be read
	stop atomic.Bool

	mutex    sync.Mutex
	findings []*findings // of stretches that were read and not joined
	joined   int
	joining  bool
}

// work reads stretches until there are no more.
func (t *stretches) work() {
	w, d := weigher{spec: t.spec}, &trajectory.Dataset{}
	for !t.stop.Load() {
		i := int(t.next.Add(1)) - 1
		if i >= len(t.cut) {
			return
		}
		f := t.readStream(t.cut[i], &w, d, t.stop.Load)
		t.cut[i].Close()
		if f.err != nil {
			t.stop.Store(true) // one reader is to read all anew, wherever this stretch is
		}
		t.join(i, f)
	}
}

// join adds what was found in a stretch, once those before it were added. The worker who
// finds them complete does it, and no other waits.
func (t *stretches) join(i int, f *findings) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.findings[i] = f
	if t.joining {
		return
	}
	t.joining = true
	for !t.stop.Load() && t.joined < len(t.cut) && t.findings[t.joined] != nil {
		k := t.joined
		f := t.findings[k]
		t.mutex.Unlock()
		ok := f.err == nil && t.all.Join(t.cut[k]) && t.add(f)
		t.mutex.Lock()
		if !ok {
			t.stop.Store(true)
			break
		}
		t.findings[k], t.cut[k] = nil, nil
		t.joined++
	}
	t.joining = false
}
