package discreet

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
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
func (j *job) inParts(ctx context.Context, plan *evaluate.Plan) (ready *evaluate.Ready, notices []string, err error) {
	if plan.Gather() == nil || j.public.Targets != nil || j.public.Behavior != nil {
		return nil, nil, nil
	}
	if err := j.readable(); err != nil {
		return nil, nil, err
	}
	s, a, apart, err := j.assembled(ctx, plan)
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	switch {
	case a != nil && a.failed:
		return nil, apart, nil
	case err != nil:
		return nil, nil, err
	}
	ready, err = a.gathering.Ready()
	if err != nil {
		return nil, nil, nil // the check of all data at once says what is wrong
	}
	j.persons = func(yield func(string) bool) { slices.Values(s.PersonIDs())(yield) }
	j.unfit = trajectory.Repaired{Episodes: a.unfit}
	told, err := j.doubted(ctx, a.watch.Warnings())
	nothing, refused := j.answerable(a.usable, a.persons)
	if err = errors.Join(err, refused); err != nil {
		return nil, nil, err
	}
	if nothing != "" {
		told = append(told, nothing)
	}
	notices = append(s.Notices(), j.unfitNotice(a.episodes)...)
	return ready, slices.Concat(notices, apart, told), nil
}

// assembled looks at all data in parts. Persons whose episodes do not stand together are
// put together first, and a notice says so; where there is no room for that it has failed.
// The stream has to be closed, after an error as well.
func (j *job) assembled(ctx context.Context, plan *evaluate.Plan) (s *file.Stream, a *assembly, apart []string, err error) {
	o := j.options
	o.Progress = j.progress
	open := func() (*file.Stream, error) { return file.Open(ctx, j.paths(), j.config.Data.Format, o) }
	if s, a, err = j.inStretches(plan, open); s != nil || err != nil {
		return s, a, nil, err
	}
	if s, err = open(); err != nil {
		return nil, nil, nil, err
	}
	a = j.assembly(plan)
	if err = a.run(s); !s.Apart() {
		return s, a, nil, err
	}
	if err = s.Close(); err != nil {
		return nil, nil, nil, err
	}
	if s, err = open(); err != nil {
		return nil, nil, nil, err
	}
	a = j.assembly(plan)
	dir, err := s.Together(ctx)
	if err == nil {
		err = a.run(s)
	}
	told := "the episodes of a person do not stand together, so that rows were "
	switch {
	case s.NoRoom():
		a.failed = true
		return s, a, []string{told + "to be kept on disk, and all are held in memory: " + err.Error()}, nil
	case dir == "":
		told += "held in memory until all of a person's were read; they are few"
	default:
		told += "kept in temporary files without names in " + dir + ", which are gone, until all of a person's were read; data that are sorted by person need none and are read faster"
	}
	return s, a, []string{told}, err
}

// assembly puts together what workers find in parts.
type assembly struct {
	job       *job
	facts     overview.Facts
	gathering *evaluate.Gathering
	watch     *overview.Watch // nil where nobody asks for warnings
	persons   int
	usable    int // of them
	episodes  int // as they were read
	kept      int // of them
	rows      int // of those kept
	unfit     int
	nobody    *trajectory.Dataset // the columns that count, as in the last part
	failed    bool
}

// assembly begins one.
func (j *job) assembly(plan *evaluate.Plan) *assembly {
	facts := j.publicFacts(plan)
	return &assembly{job: j, gathering: plan.Gather(), facts: facts, watch: overview.NewWatch(facts)}
}

// found is what a worker finds in a part.
type found struct {
	gathered              []evaluate.Gathered
	watch                 *overview.Watch
	persons, usable       int
	episodes, kept, unfit int
	rows                  int
	nobody                *trajectory.Dataset // the columns that count
	err                   error
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
	if a.watch != nil {
		a.watch.Merge(f.watch)
	}
	a.persons += f.persons
	a.usable += f.usable
	a.episodes += f.episodes
	a.kept += f.kept
	a.rows += f.rows
	a.unfit += f.unfit
	a.nobody = f.nobody
	return true
}

// look checks a part. The job is the worker's own.
func (a *assembly) look(j *job, d *trajectory.Dataset) found {
	f := a.nothing()
	a.lookInto(f, j, d)
	return *f
}

// nothing is what was found in no part.
func (a *assembly) nothing() *found {
	if a.watch == nil {
		return &found{}
	}
	return &found{watch: overview.NewWatch(a.facts)}
}

// lookInto checks a part, and adds to what was found in those before it.
func (a *assembly) lookInto(f *found, j *job, d *trajectory.Dataset) {
	fit, rho, err := j.weighed(d)
	if err != nil {
		f.err = err
		return
	}
	f.persons += fit.Persons()
	f.usable += usable(fit)
	f.episodes += d.Episodes()
	if f.nobody == nil {
		f.nobody = fit.Nobody()
	}
	f.kept += fit.Episodes()
	f.rows += fit.Rows()
	f.unfit += j.unfit.Episodes
	if f.watch != nil {
		f.watch.Add(fit, rho)
	}
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
		rho = j.room(d.Rows())
		if policy.CheckedRatios(rho, j.public.Target, d) == nil {
			return d, rho, nil
		}
	}
	fit, err := j.fit(d)
	if err != nil || !off {
		return fit, nil, err
	}
	rho = j.room(fit.Rows())
	return fit, rho, policy.CheckedRatios(rho, j.public.Target, fit)
}

// room is memory for n ratios, until it is called again.
func (j *job) room(n int) []float64 {
	if n > cap(j.rho) {
		j.rho = make([]float64, n+n/4)
	}
	return j.rho[:n]
}
