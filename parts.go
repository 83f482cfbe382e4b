package discreet

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// inParts checks the data part by part, where the method looks at persons apart from
// each other, so that their rows need not be in memory at one time. What the release
// rests on is that of a check of all data at once, bit for bit, whatever the number of
// processors.
//
// It returns nothing where the method needs all data at once, and where something is
// wrong with the data that is not a fault of form: the check of all data at once then
// finds it, and says which of several faults comes first. Where it returns notices
// alone, these say why.
func (j *job) inParts(ctx context.Context, plan *evaluate.Plan) (*evaluate.Ready, []string, error) {
	g := plan.Gather()
	if g == nil || j.public.Targets != nil || j.public.Behavior != nil {
		return nil, nil, nil
	}
	if err := j.readable(); err != nil {
		return nil, nil, err
	}
	o := j.options
	o.Progress = j.progress
	open := func() (*file.Stream, error) { return file.Open(ctx, j.paths(), j.config.Data.Format, o) }
	s, a, err := j.inStretches(plan, open)
	if err != nil {
		return nil, nil, err
	}
	if s == nil {
		if s, err = open(); err != nil {
			return nil, nil, err
		}
		a = j.assembly(plan)
		err = a.run(s)
	}
	defer s.Close()
	switch {
	case s.Apart():
		return nil, []string{"the episodes of a person do not stand together, so that all rows are held in memory; sort the data by person to have them read part by part"}, nil
	case a.failed:
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	g = a.gathering
	ready, err := g.Ready()
	if err != nil {
		return nil, nil, nil // the check of all data at once says what is wrong
	}
	j.persons, j.unfit = s.PersonIDs(), trajectory.Repaired{Episodes: a.unfit}
	told, err := j.doubted(ctx, a.watch.Warnings())
	return ready, append(append(s.Notices(), j.unfitNotice(a.episodes)...), told...), err
}

// assembly puts together what workers find in parts.
type assembly struct {
	job       *job
	facts     overview.Facts
	gathering *evaluate.Gathering
	watch     *overview.Watch
	episodes  int // as they were read
	unfit     int
	failed    bool
}

// assembly begins one.
func (j *job) assembly(plan *evaluate.Plan) *assembly {
	facts := j.publicFacts(plan)
	return &assembly{job: j, gathering: plan.Gather(), facts: facts, watch: overview.NewWatch(facts)}
}

// found is what a worker finds in a part.
type found struct {
	gathered        []evaluate.Gathered
	watch           *overview.Watch
	episodes, unfit int
	err             error
}

// task is a part on its way to a worker.
type task struct {
	data  *trajectory.Dataset
	found chan found
}

// run reads parts, hands them to workers and adds what they find in the order of the
// parts. It returns what ended reading, nil at the end of the data.
func (a *assembly) run(s *file.Stream) error {
	workers := runtime.GOMAXPROCS(0)
	free := make(chan *trajectory.Dataset, workers+1)
	for range cap(free) {
		free <- &trajectory.Dataset{}
	}
	tasks, order := make(chan task), make(chan chan found, workers+1)
	var wg, adding sync.WaitGroup
	for range workers {
		wg.Go(func() {
			j := *a.job
			for t := range tasks {
				f := a.look(&j, t.data)
				free <- t.data
				t.found <- f
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
func read(s *file.Stream, free chan *trajectory.Dataset, tasks chan<- task, order chan<- chan found, stop <-chan struct{}) error {
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
		t := task{d, make(chan found, 1)}
		order <- t.found
		tasks <- t
	}
}

// add adds what was found in the next part, unless that part failed.
func (a *assembly) add(f found) bool {
	if f.err != nil {
		a.failed = true
		return false
	}
	for _, x := range f.gathered {
		a.gathering.Add(x)
	}
	a.watch.Merge(f.watch)
	a.episodes += f.episodes
	a.unfit += f.unfit
	return true
}

// look checks a part. The job is the worker's own.
func (a *assembly) look(j *job, d *trajectory.Dataset) found {
	f := found{watch: overview.NewWatch(a.facts)}
	a.lookInto(&f, j, d)
	return f
}

// lookInto checks a part, and adds to what was found in those before it.
func (a *assembly) lookInto(f *found, j *job, d *trajectory.Dataset) {
	fit, rho, err := j.weighed(d)
	if err != nil {
		f.err = err
		return
	}
	f.episodes += d.Episodes()
	f.unfit += j.unfit.Episodes
	f.watch.Add(fit, rho)
	gathered, err := a.gathering.Part(fit, rho)
	f.gathered, f.err = append(f.gathered, gathered), err
}

// weighed is fit with the ratios of what it keeps, nil on-policy. Where all ratios can
// be had and all are of the data's own probabilities, nothing is left out for them,
// and the rows are looked at once.
func (j *job) weighed(d *trajectory.Dataset) (*trajectory.Dataset, []float64, error) {
	j.unfit = trajectory.Repaired{}
	var rho []float64
	off := !policy.OnPolicy(j.public.Target)
	if off && j.behaviour == nil && j.public.Features == nil {
		rho = make([]float64, d.Rows())
		if policy.CheckedRatios(rho, j.public.Target, d) == nil {
			return d, rho, nil
		}
	}
	fit, err := j.fit(d)
	if err != nil || !off {
		return fit, nil, err
	}
	rho = make([]float64, fit.Rows())
	return fit, rho, policy.CheckedRatios(rho, j.public.Target, fit)
}
