package figure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options says how to run a study.
type Options struct {
	// Dir takes the results; it is made when it does not exist. It may be empty
	// where Store is not: then the run adds to the store alone.
	Dir string
	// Store is the file that finished trials are kept in and that a run goes on
	// from; empty stands for trials.ndjson in Dir. Stores of several machines may
	// be joined line by line.
	Store string
	// Page, unless empty, is a directory that takes PAPER.md and its pictures.
	Page string
	// Commit is told with each trial: the version of the code that made it.
	Commit string
	// Recompute makes stored trials of other settings again, which are refused
	// otherwise.
	Recompute bool
	// Budget ends the run after so long, with everything that finished stored: no
	// job begins that is expected to take longer than what is left, and one that
	// does so all the same is given up. 0 is no limit.
	Budget time.Duration
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
	// Trials is the number of trials of each point, by item; 0 for items without
	// trials.
	Trials map[string]int
	// Left is the number of jobs that the budget left to later runs.
	Left int
}

// errBudget ends the jobs of a run whose budget is used up.
var errBudget = errors.New("the time is up")

// Run runs the jobs that the directory does not hold yet and writes, for each
// item, NAME.csv and NAME.svg, and for all of them claims.json and
// index.html. It also does so for items that an earlier run in the same directory
// finished, or of which it has at least two trials of every point. When ctx ends, or a job fails, the jobs that finished are
// kept and the error says so.
func Run(ctx context.Context, s Study, o Options) (*Result, error) {
	if _, err := s.pick(o.Items); err != nil {
		return nil, err
	}
	begin := time.Now()
	if o.Dir == "" && o.Store == "" {
		return nil, fmt.Errorf("%w: neither a directory nor a store is named", ErrDir)
	}
	for _, dir := range []string{o.Dir, o.Page} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	known := &hashes{ctx: ctx, study: s, made: map[string]string{}}
	st, err := openStore(cmp.Or(o.Store, filepath.Join(o.Dir, storeName)), s, known, o)
	if err != nil {
		return nil, err
	}
	left, err := runJobs(ctx, s, st, o, begin)
	if err = errors.Join(err, st.close()); err != nil {
		return nil, err
	}
	r, err := write(s, st, o)
	if err == nil {
		r.Left = left
	}
	return r, err
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
// It returns the number of jobs that the budget, which is counted from begin, left.
func runJobs(ctx context.Context, s Study, st *store, o Options, begin time.Time) (left int, err error) {
	items, err := s.pick(o.Items)
	if err != nil {
		return 0, err
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
	var end time.Time
	if o.Budget > 0 {
		end = begin.Add(o.Budget)
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, end, errBudget)
		defer stop()
	}
	queue := make(chan task)
	clock := newClock(todo, all, o.Progress)
	var workers sync.WaitGroup
	for range max(1, cmp.Or(o.Workers, runtime.GOMAXPROCS(0))) {
		workers.Go(func() {
			for t := range queue {
				if clock.late(t.Cost, end) {
					continue
				}
				start := time.Now()
				if err := perform(ctx, t, st); err != nil {
					cancel(err)
				} else {
					clock.finished(t.Cost, time.Since(start))
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
	if err := context.Cause(ctx); err != nil && !errors.Is(err, errBudget) {
		return 0, err
	}
	return clock.all - clock.done, nil
}

// perform runs one job and keeps its numbers.
func perform(ctx context.Context, t task, st *store) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	samples, err := t.Run(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errBudget) {
		return errBudget // whatever a job makes of its end
	}
	if err != nil {
		return fmt.Errorf("%w: %s, %s: %w", ErrJob, t.item, t.Key, err)
	}
	for _, x := range samples {
		if math.IsNaN(x.Y) || math.IsInf(x.Y, 0) || math.IsNaN(x.X) || math.IsInf(x.X, 0) {
			return fmt.Errorf("%w: %s, %s: %s of %s is not a number", ErrJob, t.item, t.Key, x.Series, x.Panel)
		}
	}
	return st.add(t.item, t.Job, samples)
}

// clock tells the time that is left.
type clock struct {
	mu          sync.Mutex
	start       time.Time
	done, all   int
	spent, cost float64
	worked      time.Duration // of all workers
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

// late tells whether a job would end after the end, unless that is zero, by the
// pace of the jobs so far.
func (c *clock) late(cost float64, end time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end.IsZero() {
		return false
	}
	expected := time.Duration(0)
	if c.spent > 0 {
		expected = time.Duration(float64(c.worked) * cost / c.spent)
	}
	return time.Now().Add(expected).After(end)
}

func (c *clock) finished(cost float64, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.spent += cost
	c.worked += took
	if c.tell == nil {
		return
	}
	p := Progress{Done: c.done, Jobs: c.all}
	if c.spent > 0 {
		p.Left = time.Duration(float64(time.Since(c.start)) * max(c.cost-c.spent, 0) / c.spent)
	}
	c.tell(p)
}
