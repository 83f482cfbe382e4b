package scan

import (
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// counts are numbers of a part of the data, or of all of them.
type counts struct {
	persons  int
	usable   int // of the persons
	episodes int // as they were read
	kept     int // of the episodes
	rows     int // of the episodes kept
	leftOut  int // episodes
}

func (c *counts) add(part counts) {
	c.persons += part.persons
	c.usable += part.usable
	c.episodes += part.episodes
	c.kept += part.kept
	c.rows += part.rows
	c.leftOut += part.leftOut
}

// assembly puts together what workers find in parts.
type assembly struct {
	counts
	spec      *spec.Spec
	facts     overview.Facts
	gathering *evaluate.Gathering
	watch     *overview.Watch     // nil where nobody asks for warnings
	nobody    *trajectory.Dataset // the columns that count, as in the last part
	failed    bool
}

func newAssembly(s *spec.Spec, plan *evaluate.Plan) *assembly {
	f := facts(s, plan)
	return &assembly{spec: s, gathering: plan.Gather(), facts: f, watch: overview.NewWatch(f)}
}

// findings are what a worker finds in a part.
type findings struct {
	counts
	gathered []evaluate.Gathered
	watch    *overview.Watch
	nobody   *trajectory.Dataset // the columns that count
	err      error
}

// task is a part on its way to a worker.
type task struct {
	data     *trajectory.Dataset
	findings chan findings
}

// run reads parts, hands them to workers and adds what they find in the order of the
// parts. It returns what ended reading, nil at the end of the data.
func (a *assembly) run(s *file.Stream) error {
	workers := runtime.GOMAXPROCS(0)
	free := make(chan *trajectory.Dataset, workers+1)
	for range cap(free) {
		free <- &trajectory.Dataset{}
	}
	tasks, order := make(chan task), make(chan chan findings, workers+1)
	var wg, adding sync.WaitGroup
	for range workers {
		wg.Go(func() {
			w := weigher{spec: a.spec}
			for t := range tasks {
				f := a.check(&w, t.data)
				free <- t.data
				t.findings <- f
			}
		})
	}
	stop := make(chan struct{})
	adding.Go(func() {
		for c := range order {
			if f := <-c; !a.failed && !a.add(f) {
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
func read(s *file.Stream, free chan *trajectory.Dataset, tasks chan<- task, order chan<- chan findings, stop <-chan struct{}) error {
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
		t := task{d, make(chan findings, 1)}
		order <- t.findings
		tasks <- t
	}
}

// add adds what was found in the next part, unless that part failed.
func (a *assembly) add(f findings) bool {
	if f.err != nil {
		a.failed = true
		return false
	}
	for _, x := range f.gathered {
		a.gathering.Add(x)
	}
	if a.watch != nil {
		a.watch.Merge(f.watch)
	}
	a.counts.add(f.counts)
	a.nobody = f.nobody
	return true
}

// check checks a part.
func (a *assembly) check(w *weigher, d *trajectory.Dataset) findings {
	f := a.noFindings()
	a.checkInto(f, w, d)
	return *f
}

// noFindings are those of no part.
func (a *assembly) noFindings() *findings {
	if a.watch == nil {
		return &findings{}
	}
	return &findings{watch: overview.NewWatch(a.facts)}
}

// checkInto checks a part, and adds to what was found in those before it.
func (a *assembly) checkInto(f *findings, w *weigher, d *trajectory.Dataset) {
	fit, leftOut, rho, err := w.weigh(d)
	if err != nil {
		f.err = err
		return
	}
	f.counts.add(counts{fit.Persons(), usable(fit), d.Episodes(), fit.Episodes(), fit.Rows(), leftOut})
	if f.nobody == nil {
		f.nobody = fit.Nobody()
	}
	if f.watch != nil {
		f.watch.Add(fit, rho)
	}
	gathered, err := a.gathering.Part(fit, rho)
	f.gathered, f.err = append(f.gathered, gathered), err
}
