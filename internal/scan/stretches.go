package scan

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// inStretches reads the data by stretches, each of which one worker takes from the file
// to its findings, so that workers wait for each other nowhere but at the end. It
// returns no stream where the data cannot be cut, and where one reader is to say what is
// wrong with them.
func inStretches(s *spec.Spec, plan *evaluate.Plan, open func() (*file.Stream, error)) (*file.Stream, *assembly, error) {
	workers := runtime.GOMAXPROCS(0)
	if workers < 2 {
		return nil, nil, nil
	}
	stream, err := open()
	if err != nil {
		return nil, nil, err
	}
	a := newAssembly(s, plan)
	if cut := stream.Cut(workers); cut == nil || !a.runStretches(stream, cut, workers) || !stream.Joined() {
		return nil, nil, stream.Close()
	}
	return stream, a, nil
}

// runStretches reads the stretches of a stream and adds what is found in their order. It
// reports false where that has to be done by one reader.
func (a *assembly) runStretches(s *file.Stream, cut []*file.Stream, workers int) bool {
	t := &stretches{assembly: a, all: s, cut: cut, findings: make([]*findings, len(cut))}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(t.work)
	}
	wg.Wait()
	return t.joined == len(cut)
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
		t.join(i, t.read(&w, t.cut[i], d))
	}
}

// read takes a stretch from the file to its findings.
func (t *stretches) read(w *weigher, s *file.Stream, d *trajectory.Dataset) *findings {
	defer s.Close()
	f := t.noFindings()
	for f.err == nil && !t.stop.Load() {
		if err := s.Part(d); errors.Is(err, io.EOF) {
			return f
		} else if err != nil {
			f.err = err
			break
		}
		t.checkInto(f, w, d)
	}
	if f.err != nil {
		t.stop.Store(true) // one reader is to read all anew, wherever this stretch is
	}
	return f
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
		ok := f.err == nil && t.all.Join(t.cut[k]) && t.add(*f)
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
