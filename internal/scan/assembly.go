package scan

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// counts are numbers of a part of the data, or of all of them.
type counts struct {
	persons   int
	usable    int // of the persons
	ungrouped int // of the persons
	unsettled int // of the persons
	episodes  int // as they were read
	kept      int // of the episodes
	rows      int // of the episodes kept
	leftOut   int // episodes
}

func (c *counts) add(part counts) {
	c.persons += part.persons
	c.usable += part.usable
	c.ungrouped += part.ungrouped
	c.unsettled += part.unsettled
	c.episodes += part.episodes
	c.kept += part.kept
	c.rows += part.rows
	c.leftOut += part.leftOut
}

// findings are what is found in a part of the data, or in all of them.
type findings struct {
	counts
	gathering *evaluate.Gathering // nil where no check is asked for
	watch     *overview.Watch     // nil where nobody asks for warnings
	nobody    *trajectory.Dataset // the columns that count
	err       error               // after which nothing counts
}

// asked is what a scan is for.
type asked struct {
	ready    bool // a check of the data
	part     bool // of some of the persons
	warnings bool
	report   bool // with warnings
}

// assembly puts together what is found in parts, or in all data as one part.
type assembly struct {
	findings
	spec  *spec.Spec
	plan  *evaluate.Plan
	facts overview.Facts
	asked asked

	ready *evaluate.Ready
	fault error // of the check of one part
	told  []string
	ids   iter.Seq[string]

	data     *trajectory.Dataset // of one part
	repaired trajectory.Repaired // of one part
}

func newAssembly(s *spec.Spec, plan *evaluate.Plan, q asked) *assembly {
	a := &assembly{spec: s}
	a.asks(plan, q)
	a.findings = *a.noFindings()
	return a
}

func (a *assembly) asks(plan *evaluate.Plan, q asked) {
	a.plan, a.asked, a.facts = plan, q, facts(a.spec, plan)
	a.facts.Report = q.report
}

// bind checks data that were read as one part.
func (a *assembly) bind(ctx context.Context, plan *evaluate.Plan, q asked) {
	a.asks(plan, q)
	switch {
	case q.part:
		a.ready, a.fault = plan.CheckPart(ctx, a.data)
	case q.ready:
		a.ready, a.fault = plan.Check(ctx, a.data)
	}
}

// watched is what there is to warn of.
func (a *assembly) watched() (*overview.Watch, error) {
	if a.data == nil {
		return a.watch, nil
	}
	return overview.Watched(a.data, a.facts)
}

// task is a part on its way to a worker.
type task struct {
	data     *trajectory.Dataset
	findings chan *findings
}

// run reads parts, hands them to workers and adds what they find in the order of the
// parts. It returns what ended reading, nil at the end of the data.
func (a *assembly) run(s *file.Stream) error {
	workers := runtime.GOMAXPROCS(0)
	free := make(chan *trajectory.Dataset, workers+1)
	for range cap(free) {
		free <- &trajectory.Dataset{}
	}
	tasks, order := make(chan task), make(chan chan *findings, workers+1)
	var wg, adding sync.WaitGroup
	for range workers {
		wg.Go(func() {
			w := weigher{spec: a.spec}
			for t := range tasks {
				f := a.noFindings()
				a.check(f, &w, t.data)
				free <- t.data
				t.findings <- f
			}
		})
	}
	stop := make(chan struct{})
	adding.Go(func() {
		for c := range order {
			if f := <-c; a.err == nil && !a.add(f) {
				close(stop)
			}
		}
	})
	err := read(s, free, tasks, order, stop)
	close(tasks)
	close(order)
	wg.Wait()
	adding.Wait()
	return err
}

// read hands out parts until the data end or a part has failed.
func read(s *file.Stream, free chan *trajectory.Dataset, tasks chan<- task, order chan<- chan *findings, stop <-chan struct{}) error {
	for {
		var d *trajectory.Dataset
		select {
		case <-stop:
			return nil
		case d = <-free:
		}
		if err := s.Part(d); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		t := task{d, make(chan *findings, 1)}
		order <- t.findings
		tasks <- t
	}
}

// readStream takes a stream, or a stretch of one, to its findings, unless it is to stop.
func (a *assembly) readStream(s *file.Stream, w *weigher, d *trajectory.Dataset, stop func() bool) *findings {
	f := a.noFindings()
	for f.err == nil && !stop() {
		if err := s.Part(d); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			f.err = err
		} else {
			a.check(f, w, d)
		}
	}
	return f
}

// add adds what was found in the next part, unless that part failed.
func (a *assembly) add(f *findings) bool {
	if f.err != nil {
		a.err = f.err
		return false
	}
	if a.gathering != nil {
		a.gathering.Join(f.gathering)
	}
	if a.watch != nil {
		a.watch.Merge(f.watch)
	}
	a.counts.add(f.counts)
	if f.nobody != nil {
		a.nobody = f.nobody
	}
	return true
}

// noFindings are those of no part.
func (a *assembly) noFindings() *findings {
	f := &findings{}
	if a.asked.ready {
		f.gathering = a.plan.Gather()
	}
	if a.asked.warnings {
		f.watch = overview.NewWatch(a.facts)
	}
	return f
}

// check checks a part, and adds to what was found in those before it.
func (a *assembly) check(f *findings, w *weigher, d *trajectory.Dataset) {
	fit, leftOut, rho, err := w.weigh(d)
	nowhere, changing := 0, 0
	if err == nil {
		nowhere, err = ungrouped(a.spec, fit)
	}
	if err == nil {
		changing, err = unsettled(a.spec, fit)
	}
	if err != nil {
		f.err = err
		return
	}
	f.counts.add(counts{fit.Persons(), usable(fit), nowhere, changing, d.Episodes(), fit.Episodes(), fit.Rows(), leftOut})
	if f.nobody == nil {
		f.nobody = fit.Nobody()
	}
	if f.watch != nil {
		f.watch.Add(fit, slices.DeleteFunc(slices.Clone(rho), func(of []float64) bool { return of == nil || a.spec.Public.Behavior != nil })...)
	}
	if f.gathering != nil {
		f.err = f.gathering.Add(fit, rho...)
	}
}

// notices are what the curator is told of episodes and persons that do not count.
func (a *assembly) notices() []string {
	return slices.Concat(leftOutNotice(a.leftOut, a.episodes), ungroupedNotice(a.spec, a.ungrouped, a.persons), unsettledNotice(a.spec, a.unsettled, a.persons))
}
