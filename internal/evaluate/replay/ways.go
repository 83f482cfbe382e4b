package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Parts cuts a dataset after every so many persons.
func Parts(d *trajectory.Dataset, persons int) []*trajectory.Dataset {
	var parts []*trajectory.Dataset
	for from := 0; from < d.Persons(); from += persons {
		var part []int
		for i := from; i < min(from+persons, d.Persons()); i++ {
			part = append(part, i)
		}
		parts = append(parts, d.Take(part))
	}
	return parts
}

// OfParts runs a plan on a dataset and its neighbour that come in parts, as the evaluation
// of a file does by default. The plan must be one that gathers.
func OfParts(plan *evaluate.Plan, targets []policy.Policy, d, neighbour []*trajectory.Dataset) Run {
	return func(ctx context.Context, other bool, src *noise.Source) (any, error) {
		parts := d
		if other {
			parts = neighbour
		}
		g := plan.Gather()
		var names []string
		for _, part := range parts {
			rho, err := ratios(targets, part)
			if err != nil {
				return nil, err
			}
			names = append(names, part.PersonID...)
			if err := g.Add(part, rho...); err != nil {
				return nil, err
			}
		}
		ready, err := g.Ready(ctx, func() []string { return names })
		if err != nil {
			return nil, err
		}
		return ready.Run(ctx, receipt.None(), src)
	}
}

// ratios are those of a part under each policy, nil on-policy.
func ratios(targets []policy.Policy, d *trajectory.Dataset) (all [][]float64, err error) {
	for _, target := range targets {
		var rho []float64
		if !policy.OnPolicy(target) {
			rho = make([]float64, d.Rows())
			err = errors.Join(err, policy.CheckedRatios(rho, target, d))
		}
		all = append(all, rho)
	}
	return all, err
}

// Targets are the policies that a question is about, none where their ratios are not known.
func Targets(p evaluate.Public) (all []policy.Policy) {
	if p.Behavior != nil {
		return nil
	}
	if p.Targets == nil {
		return []policy.Policy{p.Target}
	}
	for _, a := range p.Targets.Policies {
		all = append(all, a.Policy)
	}
	return all
}

// Joined makes the noise as a process does that adds up the sums of shards, of which here
// there is one. The plan must be one that can be spread over processes.
func Joined(run Run) Run {
	return func(ctx context.Context, neighbour bool, src *noise.Source) (any, error) {
		src.Join(alone{})
		return run(ctx, neighbour, src)
	}
}

// alone is all processes of a run of one.
type alone struct{}

// Gather implements hook.Sums.
func (alone) Gather(own hook.Sum) (hook.Sum, []int64, error) { return own, nil, nil }

// Keep implements hook.Sums.
func (alone) Keep(noisy []int64) ([]int64, error) { return noisy, nil }

// Alike runs a dataset, or its neighbour, in two ways with the noise of one seed. The
// exact sums, their noise and the release must be the same; ErrBroken says what is not,
// and names no sum.
func Alike(ctx context.Context, one, another Run, neighbour bool, seed uint64) error {
	var kept [2]keeper
	var text [2][]byte
	for i, run := range []Run{one, another} {
		var err error
		if text[i], err = run.text(ctx, neighbour, noise.NewTaped(seed, &kept[i])); err != nil {
			return err
		}
	}
	switch {
	case !bytes.Equal(text[0], text[1]):
		return fmt.Errorf("%w: the releases of two ways to run it differ: %s", ErrBroken, firstDifference(text[0], text[1]))
	case !reflect.DeepEqual(kept[0].kept, kept[1].kept) || !reflect.DeepEqual(kept[0].choices, kept[1].choices):
		return fmt.Errorf("%w: the sums of two ways to run it differ", ErrBroken)
	}
	return nil
}
