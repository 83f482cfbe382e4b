package examine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/neighbours"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
)

// pair is two neighbouring datasets and a run on them.
type pair struct {
	neighbours.Pair
	// run is the way of the evaluation: by parts where the plan can be gathered. whole is
	// that of all data at once, nil where run is.
	run, whole replay.Run
}

// subject is a mechanism that is looked at: a plan as it is, or with a mistake.
type subject struct {
	plan  *evaluate.Plan
	event dp.Event
	claim audit.Claim
	pairs []pair
	// sums says that every run is a sequence of Gaussian sums that a replay can follow.
	sums bool
	// joins says that its noise can be drawn for the sums of several processes.
	joins bool
	// chooses is the epsilon of a single choice by permute-and-flip, and counts that of so many
	// sums with discrete Laplace noise; 0 of all else.
	chooses, counts float64
	counted         int
	// halves is the budget of each of two halves of the persons; zero of all else.
	halves dp.Budget
	runs   int // of each world, for the lower bound
	// outside is how many pairs are looked at from outside, where sums cannot be
	// followed; each has its share of the false-alarm rate.
	outside int
	seed    uint64
}

// outcome is what was seen.
type outcome struct {
	worst   float64 // share of mu^2 that a pair needs
	at      int     // the pair that is drawn from
	width   int     // coordinates of a run's noisy sums
	found   audit.Found
	sampled bool
	broken  []string // why, one line a look
	by      string   // the look that found it first
}

// breaks notes what refutes the claim; any other error is returned.
func (o *outcome) breaks(look string, err error) error {
	if errors.Is(err, replay.ErrBroken) || errors.Is(err, audit.ErrBroken) {
		if o.by == "" {
			o.by = look
		}
		o.broken = append(o.broken, look+": "+err.Error())
		return nil
	}
	return err
}

// examine takes all looks at a subject. An early one ends with the first that finds
// something.
func (s *subject) examine(ctx context.Context, early bool) (outcome, error) {
	var o outcome
	if s.sums {
		if err := s.replay(ctx, &o); err != nil || len(o.broken) > 0 {
			return o, err // what a run shows cannot be followed once its replay fails
		}
		if err := s.ways(ctx, &o); err != nil || len(o.broken) > 0 {
			return o, err
		}
		return o, s.draw(ctx, &o, early)
	}
	if s.halves.Epsilon > 0 {
		if err := s.certifyHalves(ctx, &o); err != nil || len(o.broken) > 0 {
			return o, err
		}
	}
	if s.counts > 0 {
		if err := s.certifyCounts(ctx, &o); err != nil || len(o.broken) > 0 {
			return o, err
		}
		if err := s.ways(ctx, &o); err != nil || len(o.broken) > 0 {
			return o, err
		}
	}
	if s.chooses > 0 {
		if err := s.certifyChoices(ctx, &o); err != nil || len(o.broken) > 0 {
			return o, err
		}
		if err := s.countChoices(ctx, &o, early); err != nil || len(o.broken) > 0 {
			return o, err
		}
	}
	for o.at = range min(len(s.pairs), s.outside) {
		if err := s.sample(ctx, &o); err != nil || len(o.broken) > 0 {
			return o, err
		}
	}
	return o, nil
}

// certifyChoices holds the probabilities of every pair against the epsilon of the claim.
func (s *subject) certifyChoices(ctx context.Context, o *outcome) error {
	return s.certify(ctx, o, replay.CheckChoice, s.chooses)
}

// certifyCounts holds the counts of every pair against it.
func (s *subject) certifyCounts(ctx context.Context, o *outcome) error {
	return s.certify(ctx, o, func(ctx context.Context, run replay.Run, epsilon float64, seed uint64) (replay.Result, error) {
		return replay.CheckLaplace(ctx, run, s.counted, epsilon, seed)
	}, s.counts)
}

// certifyHalves holds every pair against what its half pays.
func (s *subject) certifyHalves(ctx context.Context, o *outcome) error {
	return s.certify(ctx, o, func(ctx context.Context, run replay.Run, _ float64, seed uint64) (replay.Result, error) {
		return replay.CheckHalves(ctx, run, s.halves, seed)
	}, s.halves.Epsilon)
}

// followed tells whether a replay can follow runs.
func (s *subject) followed() bool {
	return s.sums || s.chooses > 0 || s.counts > 0 || s.halves.Epsilon > 0
}

func (s *subject) certify(ctx context.Context, o *outcome, check func(context.Context, replay.Run, float64, uint64) (replay.Result, error), epsilon float64) error {
	for i, p := range s.pairs {
		r, err := check(ctx, p.run, epsilon, s.seed+uint64(i))
		if err != nil {
			err = o.breaks("replay certificate", fmt.Errorf("%s: %w", p.Kind, err))
		}
		if err != nil || len(o.broken) > 0 {
			return err
		}
		o.worst = max(o.worst, r.Ratio)
	}
	return nil
}

// replay holds every pair against the mu^2 of the claim, and takes for what follows the
// pair that needs most of it over several runs: where a stage is chosen by what an
// earlier one showed, one run alone may need little, or much.
func (s *subject) replay(ctx context.Context, o *outcome) error {
	needs := make([]float64, len(s.pairs))
	for i := range s.pairs {
		var err error
		if needs[i], err = s.needs(ctx, o, i, 0); err != nil || len(o.broken) > 0 {
			return err
		}
		o.worst = max(o.worst, needs[i])
	}
	most := 0.0
	for i, need := range needs {
		if need < nearWorst*o.worst {
			continue
		}
		for again := range runsOfWorst {
			more, err := s.needs(ctx, o, i, again+1)
			if err != nil || len(o.broken) > 0 {
				return err
			}
			need += more
		}
		if need > most {
			most, o.at = need, i
		}
	}
	return nil
}

const (
	// nearWorst is the share of the worst pair's need from which on a pair is run
	// runsOfWorst times more.
	nearWorst   = 0.9
	runsOfWorst = 8
)

// needs is the share of mu^2 that a pair needs in a run.
func (s *subject) needs(ctx context.Context, o *outcome, i, again int) (float64, error) {
	r, err := replay.CheckRun(ctx, s.pairs[i].run, s.claim.Mu*s.claim.Mu, s.seed+uint64(i)+uint64(again)<<32)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.pairs[i].Kind, err)
	}
	return r.Ratio, o.breaks("replay certificate", err)
}

// draw looks at the noise of many runs of the worst pair, and bounds mu from below.
func (s *subject) draw(ctx context.Context, o *outcome, early bool) error {
	p := s.pairs[o.at]
	var law noiseLaw
	ratios := func(world, runs int) ([][]float64, error) {
		shown, err := parallel(ctx, runs, func(i int) (replay.Shown, error) {
			return replay.Draw(ctx, p.run, world == 1, s.seedOf(world, i))
		})
		out := make([][]float64, 0, runs)
		for _, x := range shown {
			out = append(out, []float64{x.Ratio})
			law.add(x.Noise)
		}
		return out, err
	}
	samples := audit.Samples{Columns: []string{"log-likelihood ratio"}}
	for world := range samples.Worlds {
		var err error
		if samples.Worlds[world], err = ratios(world, s.runs); err != nil {
			return o.breaks("replay certificate", err)
		}
	}
	o.width = len(law.slots)
	if err := o.breaks("distribution of the noise", law.judge(audit.DefaultFalseAlarm/4)); err != nil || early && o.by != "" {
		return err
	}
	return s.hold(o, samples)
}

// hold bounds the samples and holds the bound against the claim. The law of the noise, or
// of choices, and every pair that is sampled have an equal part of the false-alarm rate.
func (s *subject) hold(o *outcome, samples audit.Samples) error {
	found, err := samples.Bound(audit.Options{Delta: s.claim.Delta, FalseAlarm: audit.DefaultFalseAlarm / float64(1+max(1, s.outside))})
	if err != nil {
		return err
	}
	if !o.sampled || found.Epsilon > o.found.Epsilon {
		o.found = found
	}
	o.sampled = true
	return o.breaks("lower bound", s.claim.Hold(found))
}

// seedOf numbers the runs.
func (s *subject) seedOf(world, run int) uint64 {
	return s.seed<<32 ^ uint64(world)<<31 ^ uint64(run) ^ 1<<63
}

// seeded is a source of a run that no replay follows.
func (s *subject) seeded(world, run int) *noise.Source { return noise.NewSeeded(s.seedOf(world, run)) }

// parallel makes runs on all processors; the results are in order.
func parallel[T any](ctx context.Context, runs int, f func(run int) (T, error)) ([]T, error) {
	out := make([]T, runs)
	workers := min(runs, runtime.GOMAXPROCS(0))
	failed := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < runs && failed[w] == nil; i += workers {
				if failed[w] = ctx.Err(); failed[w] == nil {
					out[i], failed[w] = f(i)
				}
			}
		})
	}
	all.Wait()
	return out, errors.Join(failed...)
}
