package aggregator

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-rl/discreet/internal/fleet/store"
)

// errFull says that the queue has no room.
var errFull = errors.New("the queue of reports is full")

// place is where a report belongs.
type place struct {
	run   store.RunID
	round uint64
}

type answer[A any] struct {
	is  A
	err error
}

type waiting[Q, A any] struct {
	place
	ask    Q
	answer chan answer[A] // of capacity 1: nobody has to wait for who went away
}

// committer puts what waits, reports or requests of permits, into batches, and answers each
// after the commit of its batch.
type committer[Q, A any] struct {
	do    func(context.Context, place, []Q) ([]A, error)
	batch int
	queue chan waiting[Q, A]
	now   func() time.Time

	size, seconds prometheus.Observer
}

// submit waits for room nowhere and for the answer until ctx ends.
func (c *committer[Q, A]) submit(ctx context.Context, at place, ask Q) (none A, err error) {
	w := waiting[Q, A]{at, ask, make(chan answer[A], 1)}
	select {
	case c.queue <- w:
	default:
		return none, errFull
	}
	select {
	case a := <-w.answer:
		return a.is, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// run commits until ctx ends and the queue is empty.
func (c *committer[Q, A]) run(ctx context.Context) {
	for {
		select {
		case w := <-c.queue:
			c.commit(ctx, c.gather(w))
		case <-ctx.Done():
			select {
			case w := <-c.queue:
				c.commit(ctx, c.gather(w))
			default:
				return
			}
		}
	}
}

// gather takes what waits, without waiting for more.
func (c *committer[Q, A]) gather(first waiting[Q, A]) []waiting[Q, A] {
	batch := []waiting[Q, A]{first}
	for len(batch) < c.batch {
		select {
		case w := <-c.queue:
			batch = append(batch, w)
		default:
			return batch
		}
	}
	return batch
}

// tries is how often a batch is committed when the store is in the way, and pause the
// time before the second time; it doubles. A report that was committed all the same
// is found to be there.
const (
	tries = 4
	pause = 50 * time.Millisecond
)

func (c *committer[Q, A]) commit(ctx context.Context, batch []waiting[Q, A]) {
	ctx = context.WithoutCancel(ctx) // who waits is answered
	groups := map[place][]waiting[Q, A]{}
	for _, w := range batch {
		groups[w.place] = append(groups[w.place], w)
	}
	for at, group := range groups {
		asked := make([]Q, len(group))
		for i, w := range group {
			asked[i] = w.ask
		}
		begun := c.now()
		found, err := c.do(ctx, at, asked)
		for n := 1; err != nil && n < tries && store.Transient(err); n++ {
			time.Sleep(pause << (n - 1))
			found, err = c.do(ctx, at, asked)
		}
		c.seconds.Observe(c.now().Sub(begun).Seconds())
		c.size.Observe(float64(len(group)))
		for i, w := range group {
			if err != nil {
				w.answer <- answer[A]{err: err}
				continue
			}
			w.answer <- answer[A]{is: found[i]}
		}
	}
}
