package evaluate

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ErrInParts marks a method that needs all persons in one process.
var ErrInParts = fault.Input("method needs all persons in one process")

// InParts tells whether the persons may be spread over processes: nil where a run is a
// sequence of private sums over persons with exact noise, each of which may be made
// elsewhere ([hook.Sums]), and otherwise why not, and what to do.
func (p *Plan) InParts() error {
	if _, ok := p.event.(dp.PermuteAndFlip); ok {
		return fmt.Errorf("%w: permute-and-flip compares the scores of all persons and makes no noisy sum; set select to best, or read the data in one process", ErrInParts)
	}
	switch p.Method {
	case "dp-is", "dp-pdis", "dp-wis", "dp-dr", "dp-refine", "dp-fqe", "dp-lsw", "dp-lsl":
	case "gpope":
		return fmt.Errorf("%w: gpope takes persons by chance, one step after the other; use dp-refine, which makes a few sums, or read the data in one process", ErrInParts)
	case "constant":
		return fmt.Errorf("%w: constant looks at no data; run it without shards", ErrInParts)
	default:
		return fmt.Errorf("%w: %s; use dp-wis, dp-dr, dp-fqe or dp-refine, or read the data in one process", ErrInParts, p.Method)
	}
	if p.public.Privacy.Noise != mechanism.Exact {
		return fmt.Errorf("%w: fast noise is not on the lattice of the sums; set privacy.noise to exact", ErrInParts)
	}
	return nil
}

// CheckPart is [Plan.Check] of some of the persons, of none too. How many there are of
// all is for the caller to hold against [Plan.CheckPersons], and the sums over all parts of
// what [Plan.Sizes] counts against [Plan.CheckSizes].
func (p *Plan) CheckPart(ctx context.Context, d *trajectory.Dataset) (*Ready, error) {
	if err := p.InParts(); err != nil {
		return nil, err
	}
	if err := p.CheckEnds(d.Terminated != nil); err != nil {
		return nil, err
	}
	if p.public.Discounts && d.Discount == nil {
		return nil, fmt.Errorf("%w: problem.discounts is set and the data bring no discount; add or map the column, or leave the key out", ErrData)
	}
	if err := checkContributions(d, p.public); err != nil {
		return nil, err
	}
	run, err := p.prepare(ctx, d)
	if err != nil {
		return nil, err
	}
	return &Ready{plan: p, draw: run}, nil
}

// Replay runs without noise and releases nothing: x answers for every private sum, and
// an error of its own ends the run. It is nil where x answered for all of them. Where a
// plan can [Plan.Gather], a check can be replayed again, and by several goroutines; else
// once.
func (r *Ready) Replay(ctx context.Context, x hook.Sums) error {
	if x == nil || r.plan.pairs == nil && !r.used.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: this check was run before; check the data again", errUsed)
	}
	none := new(noise.Source) // has no key, so that nothing can be drawn from it
	none.Join(x)
	_, err := r.draw(ctx, none)
	return err
}
