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

type answer struct {
	outcome store.Outcome
	err     error
}

type waiting struct {
	place
	report store.Report
	answer chan answer // of capacity 1: nobody has to wait for who went away
}

// committer puts reports that wait into batches, and answers each after the commit
// of its batch.
type committer struct {
	store *store.Store
	grace time.Duration
	batch int
	queue chan waiting
	now   func() time.Time

	size, seconds prometheus.Histogram
}

// submit waits for room nowhere and for the answer until ctx ends.
func (c *committer) submit(ctx context.Context, at place, r store.Report) (store.Outcome, error) {
	w := waiting{at, r, make(chan answer, 1)}
	select {
	case c.queue <- w:
	default:
		return 0, errFull
	}
	select {
	case a := <-w.answer:
		return a.outcome, a.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// run commits until ctx ends and the queue is empty.
func (c *committer) run(ctx context.Context) {
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
func (c *committer) gather(first waiting) []waiting {
	batch := []waiting{first}
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

func (c *committer) commit(ctx context.Context, batch []waiting) {
	ctx = context.WithoutCancel(ctx) // who waits is answered
	groups := map[place][]waiting{}
	for _, w := range batch {
		groups[w.place] = append(groups[w.place], w)
	}
	for at, group := range groups {
		reports := make([]store.Report, len(group))
		for i, w := range group {
			reports[i] = w.report
		}
		begun := c.now()
		outcomes, err := c.store.Commit(ctx, at.run, at.round, reports, c.grace)
		for n := 1; err != nil && n < tries && store.Transient(err); n++ {
			time.Sleep(pause << (n - 1))
			outcomes, err = c.store.Commit(ctx, at.run, at.round, reports, c.grace)
		}
		c.seconds.Observe(c.now().Sub(begun).Seconds())
		c.size.Observe(float64(len(group)))
		for i, w := range group {
			if err != nil {
				w.answer <- answer{err: err}
				continue
			}
			w.answer <- answer{outcome: outcomes[i]}
		}
	}
}
