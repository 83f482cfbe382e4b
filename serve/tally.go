package serve

// What happens over and over is counted in the audit log and not dropped: the first time stands
// there before it is answered, and how often it happened again within a minute when that is over,
// or at shutdown. So a flood from one address costs two lines a minute.

import (
	"fmt"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// tallyWindow is how long what happens again is counted.
const tallyWindow = time.Minute

// tally counts what happens over and over.
type tally struct {
	record func(...asks.Note) error
	window time.Duration
	// most different notes are counted at a time; what else happens is counted as rest, or, where
	// that is empty, written each time.
	most   int
	rest   asks.Note
	failed func(err error) // hears why a count could not be written

	mu     sync.Mutex
	open   map[asks.Note]*count
	busy   sync.WaitGroup // counts that are being written
	closed bool
}

// count is one note in its minute.
type count struct {
	notes []asks.Note   // the same in several datasets
	first chan struct{} // closed when err says whether the first is in the log
	err   error
	again int
	timer *time.Timer
}

// note returns when the log has the notes, which say the same of several datasets, or has their
// like of less than a minute ago and they are counted.
func (t *tally) note(notes ...asks.Note) error {
	for {
		t.mu.Lock()
		k := t.open[notes[0]]
		switch {
		case t.closed, k == nil && len(t.open) >= t.most && t.rest == asks.Note{}:
			t.mu.Unlock()
			return t.record(notes...)
		case k == nil && len(t.open) >= t.most && notes[0] != t.rest:
			notes = []asks.Note{t.rest}
			t.mu.Unlock()
		case k == nil:
			return t.begin(notes) // unlocks
		default:
			t.mu.Unlock()
			<-k.first
			if k.err != nil {
				return k.err
			}
			if t.more(notes[0], k) {
				return nil
			}
		}
	}
}

// begin writes the first notes of a minute.
func (t *tally) begin(notes []asks.Note) error {
	k := &count{notes: notes, first: make(chan struct{})}
	t.open[notes[0]] = k
	t.mu.Unlock()
	k.err = t.record(notes...)
	t.mu.Lock()
	switch {
	case k.err != nil:
		delete(t.open, notes[0])
	case !t.closed:
		k.timer = time.AfterFunc(t.window, func() { t.end(notes[0], k) })
	}
	t.mu.Unlock()
	close(k.first)
	return k.err
}

// more counts, unless the minute is over.
func (t *tally) more(key asks.Note, k *count) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.open[key] != k {
		return false
	}
	k.again++
	return true
}

// end writes what was counted in a minute. Where it cannot be written, it is counted on.
func (t *tally) end(key asks.Note, k *count) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	if k.again == 0 {
		delete(t.open, key)
		t.mu.Unlock()
		return
	}
	written := k.again
	t.busy.Add(1)
	defer t.busy.Done()
	t.mu.Unlock()
	err := t.record(k.counted(written)...)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failed(err)
	} else {
		k.again -= written
	}
	if t.closed {
		return // close writes what is left
	}
	if k.again == 0 {
		delete(t.open, key)
		return
	}
	k.timer = time.AfterFunc(t.window, func() { t.end(key, k) })
}

// counted are the notes of a count.
func (k *count) counted(n int) []asks.Note {
	var out []asks.Note
	for _, one := range k.notes {
		one.What = fmt.Sprintf("%s: %d more within a minute", one.What, n)
		out = append(out, one)
	}
	return out
}

// close writes all counts. What happens later is written at once.
func (t *tally) close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.busy.Wait()
	t.mu.Lock()
	var left []asks.Note
	for _, k := range t.open {
		if k.timer != nil {
			k.timer.Stop()
		}
		if k.again > 0 {
			left = append(left, k.counted(k.again)...)
		}
	}
	clear(t.open)
	t.mu.Unlock()
	if len(left) == 0 {
		return nil
	}
	return t.record(left...)
}
