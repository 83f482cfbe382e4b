package examine

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/neighbours"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// pairs draws neighbours and binds the plan to them.
func (j *Job) pairs(plan *evaluate.Plan, public evaluate.Public, n int) ([]pair, error) {
	source, err := neighbours.New(public, j.Columns, j.Behaviour, j.Seed)
	if err != nil {
		return nil, err
	}
	all := make([]pair, n)
	for i := range all {
		drawn, err := source.Pair()
		if err != nil {
			return nil, err
		}
		all[i] = j.bound(plan, public, drawn, i)
	}
	return all, nil
}

// bound is the i-th pair with the plan bound to it as an evaluation binds it: by parts, but
// where the method needs all data at once.
func (j *Job) bound(plan *evaluate.Plan, public evaluate.Public, drawn neighbours.Pair, i int) pair {
	p := pair{Pair: drawn, run: replay.Of(plan, drawn.Data, drawn.Neighbour)}
	if plan.Gather() == nil {
		return p
	}
	p.whole = p.run
	p.run = inParts(plan, replay.Targets(public), drawn, i, func(d *trajectory.Dataset) *trajectory.Dataset { return d })
	return p
}

// inParts gathers the data of the i-th pair, each part as change makes it. The parts are
// larger and smaller in turn, from everybody in one to one person in each.
func inParts(plan *evaluate.Plan, targets []policy.Policy, drawn neighbours.Pair, i int, change func(*trajectory.Dataset) *trajectory.Dataset) replay.Run {
	n := max(drawn.Data.Persons(), 1)
	sizes := []int{n, (n + 1) / 2, max(n-1, 1), (n + 2) / 3, 1}
	var parts [2][]*trajectory.Dataset
	for world, d := range []*trajectory.Dataset{drawn.Data, drawn.Neighbour} {
		for _, part := range replay.Parts(d, sizes[i%len(sizes)]) {
			parts[world] = append(parts[world], change(part))
		}
	}
	return replay.OfParts(plan, targets, parts[0], parts[1])
}

// ways holds the ways to run every pair against each other: what leaves must be the same
// by parts and of all data at once, and where sums are added up over processes.
func (s *subject) ways(ctx context.Context, o *outcome) error {
	for i, p := range s.pairs {
		look := func(name string, other replay.Run) error {
			err := replay.Alike(ctx, p.run, other, i%2 == 1, s.seed+uint64(i))
			if err != nil {
				err = fmt.Errorf("%s: %w", p.Kind, err)
			}
			return o.breaks(name, err)
		}
		if p.whole != nil {
			if err := look("comparison of parts with all data together", p.whole); err != nil || len(o.broken) > 0 {
				return err
			}
		}
		if s.joins {
			if err := look("comparison of the noise for shards with that of one process", replay.Joined(p.run)); err != nil || len(o.broken) > 0 {
				return err
			}
		}
	}
	return nil
}
