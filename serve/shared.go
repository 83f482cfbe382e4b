package serve

import (
	"context"
	"errors"
	"sync"
	"time"
)

// shared lets one reading stand for all who asked before it began. A ledger in a file is
// read by one at a time, so that readings of many callers would queue for it.
type shared[T any] struct {
	read func(context.Context) (T, error)

	turn chan struct{} // holds one while it reads

	mu   sync.Mutex
	next *reading[T] // that has not begun; nil for none
}

func newShared[T any](read func(context.Context) (T, error)) *shared[T] {
	return &shared[T]{read: read, turn: make(chan struct{}, 1)}
}

type reading[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// sharedTime bounds a reading, which no caller's leaving ends: others may wait for it.
const sharedTime = 30 * time.Second

// errUnread is told to who waited for a reading that panicked.
var errUnread = errors.New("the reading was broken off")

// Read returns what a reading found that began after the call did. Callers share the value,
// and must not change it.
func (s *shared[T]) Read(ctx context.Context) (T, error) {
	s.mu.Lock()
	r, first := s.next, false
	if r == nil {
		r, first = &reading[T]{done: make(chan struct{}), err: errUnread}, true
		s.next = r
	}
	s.mu.Unlock()
	if first {
		s.fulfil(context.WithoutCancel(ctx), r)
	}
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// fulfil makes a reading when those before it have ended. Who comes after it has begun waits
// for the next.
func (s *shared[T]) fulfil(ctx context.Context, r *reading[T]) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	s.next = nil
	s.mu.Unlock()
	defer close(r.done)
	ctx, cancel := context.WithTimeout(ctx, sharedTime)
	defer cancel()
	r.value, r.err = s.read(ctx)
}
