package figure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options says how to run a study.
type Options struct {
	// Dir takes the results; it is made when it does not exist.
	Dir string
	// Items are the names of those to run; none means all.
	Items []string
	// Quick takes fewer and smaller trials.
	Quick bool
	// Workers is the number of jobs at a time; 0 stands for GOMAXPROCS.
	Workers int
	// Progress, unless nil, is told when a job ends, one call at a time.
	Progress func(Progress)
}

// Progress is how far a run has come. Jobs of an earlier run count as done.
type Progress struct {
	Done, Jobs int
	// Left is the expected time to go, from the costs of the jobs; 0 when nothing
	// is known yet.
	Left time.Duration
}

// Result is what a run came to.
type Result struct {
	Items  []string
	Claims []Claim
}

// Run runs the jobs that the directory does not hold yet and writes, for each
// item, NAME.csv, NAME.svg and NAME.png, and for all of them claims.json and
// index.html. It also does so for items that an earlier run in the same directory
// finished, or of which it has at least two trials of every point. When ctx ends, or a job fails, the jobs that finished are
// kept and the error says so.
func Run(ctx context.Context, s Study, o Options) (*Result, error) {
	if _, err := s.pick(o.Items); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	st, err := openStore(o.Dir, s)
	if err != nil {
		return nil, err
	}
	err = errors.Join(runJobs(ctx, s, st, o), st.close())
	if err != nil {
		return nil, err
	}
	return write(s, st, o)
}

// pick returns the items with these names in the order of the study.
func (s Study) pick(names []string) ([]Item, error) {
	var picked []Item
	var known []string
	for _, item := range s.Items {
		known = append(known, item.Name)
		if len(names) == 0 || slices.Contains(names, item.Name) {
			picked = append(picked, item)
		}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("%w: %s has no %q; it has %s", ErrItem, s.Paper, n, strings.Join(known, ", "))
		}
	}
	return picked, nil
}

type task struct {
	item string
	Job
}

// runJobs runs what is missing, trial by trial and of each the longest jobs first,
// so that no long one is left to the end.
func runJobs(ctx context.Context, s Study, st *store, o Options) error {
	items, err := s.pick(o.Items)
	if err != nil {
		return err
	}
	var todo []task
	all := 0
	for _, item := range items {
		for _, j := range item.Jobs(o.Quick) {
			all++
			if _, ok := st.done[job{item.Name, j.Key}]; !ok {
				todo = append(todo, task{item.Name, j})
			}
		}
	}
	slices.SortStableFunc(todo, func(a, b task) int {
		return cmp.Or(cmp.Compare(a.Trial, b.Trial), cmp.Compare(b.Cost, a.Cost))
	})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan task)
	clock := newClock(todo, all, o.Progress)
	var workers sync.WaitGroup
	for range max(1, cmp.Or(o.Workers, runtime.GOMAXPROCS(0))) {
		workers.Go(func() {
			for t := range queue {
				if err := perform(ctx, t, st); err != nil {
					cancel(err)
				} else {
					clock.finished(t.Cost)
				}
			}
		})
	}
	for _, t := range todo {
		select {
		case queue <- t:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	workers.Wait()
	return context.Cause(ctx)
}

// perform runs one job and keeps its numbers.
func perform(ctx context.Context, t task, st *store) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	samples, err := t.Run(ctx)
	if err != nil {
		return fmt.Errorf("%w: %s, %s: %w", ErrJob, t.item, t.Key, err)
	}
	for _, x := range samples {
		if math.IsNaN(x.Y) || math.IsInf(x.Y, 0) || math.IsNaN(x.X) || math.IsInf(x.X, 0) {
			return fmt.Errorf("%w: %s, %s: %s of %s is not a number", ErrJob, t.item, t.Key, x.Series, x.Panel)
		}
	}
	return st.add(t.item, t.Key, samples)
}

// clock tells the time that is left.
type clock struct {
	mu          sync.Mutex
	start       time.Time
	done, all   int
	spent, cost float64
	tell        func(Progress)
}

func newClock(todo []task, all int, tell func(Progress)) *clock {
	c := &clock{start: time.Now(), done: all - len(todo), all: all, tell: tell}
	for _, t := range todo {
		c.cost += t.Cost
	}
	if tell != nil {
		tell(Progress{Done: c.done, Jobs: c.all})
	}
	return c
}

func (c *clock) finished(cost float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.spent += cost
	if c.tell == nil {
		return
	}
	p := Progress{Done: c.done, Jobs: c.all}
	if c.spent > 0 {
		p.Left = time.Duration(float64(time.Since(c.start)) * max(c.cost-c.spent, 0) / c.spent)
	}
	c.tell(p)
}
