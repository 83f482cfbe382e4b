package evaluate

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/feature"
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
	switch m, err := MethodNamed(p.Method); {
	case err == nil && m.parts:
	case err == nil && m.whole != "":
		return fmt.Errorf("%w: %s", ErrInParts, m.whole)
	default: // a reference, or a method of somebody else
		return fmt.Errorf("%w: %s; use dp-wis, dp-dr, dp-fqe or dp-refine, or read the data in one process", ErrInParts, p.Method)
	}
	if p.public.Privacy.Fast {
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
	if _, err := p.sized(d); err != nil {
		return nil, err
	}
	return p.bind(ctx, d)
}

// Replay runs without noise and releases nothing: x answers for every private sum, and
// an error of its own ends the run. It is nil where x answered for all of them. Where a
// plan can [Plan.Gather], a check can be replayed again, and by several goroutines; else
// once.
func (r *Ready) Replay(ctx context.Context, x hook.Sums) error {
	if x == nil || r.plan.Gather() == nil && !r.used.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: this check was run before; check the data again", errUsed)
	}
	none := new(noise.Source) // has no key, so that nothing can be drawn from it
	none.Join(x)
	_, err := r.draw(ctx, none)
	return err
}

// Gathering is [Plan.Check] of data that come in parts: whole persons, each in one part
// with all of their episodes. It keeps what the run needs of them, as few numbers a person or
// packed rows. The release is that of Check, bit for bit. Which of several errors it finds first
// may be another one.
type Gathering struct {
	plan    *Plan
	kept    any // nil where nobody was added
	persons int
	sizes   []int64
}

// Gather begins a check by parts. It is nil where the method needs all data at once.
func (p *Plan) Gather() *Gathering {
	if _, ok := p.prepare.(whole); ok {
		return nil
	}
	return &Gathering{plan: p}
}

// Slim tells that two numbers a person are kept, under one policy, and no row. Then rows of persons who do not
// stand together may be in temporary files, which a release discloses.
func (p *Plan) Slim() bool { return p.slim }

// Add checks one part and adds it. rho are the ratios by row under each policy that is asked
// about, nil for the logged one, where they are known, else none; they are written over.
func (g *Gathering) Add(d *trajectory.Dataset, rho ...[]float64) error {
	p := g.plan
	sizes, err := p.sized(d)
	if err != nil {
		return err
	}
	kept, err := p.prepare.part(d, rho, false)
	if err == nil {
		g.join(kept, d.Persons(), sizes)
	}
	return err
}

// Join adds what another gathering of the plan has of the next persons. It is used up.
func (g *Gathering) Join(next *Gathering) {
	if next.kept != nil {
		g.join(next.kept, next.persons, next.sizes)
	}
}

func (g *Gathering) join(kept any, persons int, sizes []int64) {
	g.kept, g.persons = joined(g.plan.prepare, g.kept, kept), g.persons+persons
	if g.sizes == nil {
		g.sizes = make([]int64, len(sizes))
	}
	for i, n := range sizes {
		g.sizes[i] += n
	}
}

// Ready ends the check. names, if not nil, gives the ids of the persons, in order. The gathering is used up.
func (g *Gathering) Ready(ctx context.Context, names func() []string) (*Ready, error) {
	if err := g.plan.checkNumbers(g.persons, g.sizes); err != nil {
		return nil, err
	}
	if rows, ok := g.kept.(packed); ok {
		rows.names = names
		g.kept = rows
	}
	return g.bind(ctx)
}

// ReadyPart ends the check of some of the persons, as [Plan.CheckPart] does of data at
// once, with what [Plan.Sizes] counts, and tells how many bytes are kept. The gathering is used up.
func (g *Gathering) ReadyPart(ctx context.Context) (r *Ready, sizes []int64, kept int64, err error) {
	if err := g.plan.InParts(); err != nil {
		return nil, nil, 0, err
	}
	if g.kept != nil {
		kept = g.plan.prepare.bytes(g.kept)
	}
	r, err = g.bind(ctx)
	return r, g.sizes, kept, err
}

func (g *Gathering) bind(ctx context.Context) (*Ready, error) {
	if g.kept == nil {
		return nil, errNobody // not even a part of nobody
	}
	run, err := g.plan.prepare.bind(ctx, g.kept)
	if err != nil {
		return nil, err
	}
	return &Ready{plan: g.plan, draw: run}, nil
}

var (
	errNobody    = fmt.Errorf("%w: the data holds no person", ErrData)
	errDiscounts = fmt.Errorf("%w: problem.discounts is set and the data bring no discount; add or map the column, or leave the key out", ErrData)
)

// functionReleased is the release of a value function: where the features are of numbered states,
// with the value of each.
func functionReleased(f feature.Map, theta []float64) *Release {
	r := &Release{Theta: theta}
	if finite, ok := f.(feature.Finite); ok {
		for state := range finite.States() {
			r.Values = append(r.Values, theta[finite.Cell(state)])
		}
	}
	return r
}
