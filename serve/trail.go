package serve

// What the audit log is told is committed before anybody is answered. Those who wait at the same
// time share one transaction, so that many of them cost the store, which has one writer, little
// more than one.

import (
	"context"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// trailTime is how long a transaction of notes may take.
const trailTime = 10 * time.Second

// trail appends notes to the audit log.
type trail struct {
	write func(context.Context, []asks.Note) error

	mu      sync.Mutex
	next    *batch // gathers while another is being written
	writing bool
}

// batch is the notes of one transaction.
type batch struct {
	notes []asks.Note
	done  chan struct{} // closed when err says what became of them
	err   error
}

func newTrail(write func(context.Context, []asks.Note) error) *trail { return &trail{write: write} }

// record returns when the notes are durable, or cannot be. Who is answered after that may have
// gone meanwhile: what they did stands in the log.
func (t *trail) record(notes ...asks.Note) error {
	t.mu.Lock()
	if t.next == nil {
		t.next = &batch{done: make(chan struct{})}
	}
	b := t.next
	b.notes = append(b.notes, notes...)
	if !t.writing {
		t.writing = true
		go t.drain()
	}
	t.mu.Unlock()
	<-b.done
	return b.err
}

// drain writes one batch after the other until nobody waits.
func (t *trail) drain() {
	for {
		t.mu.Lock()
		b := t.next
		t.next = nil
		if b == nil {
			t.writing = false
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), trailTime)
		b.err = t.write(ctx, b.notes)
		cancel()
		close(b.done)
	}
}
