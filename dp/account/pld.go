package account

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account/internal/lossdist"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// PLD accounts by privacy-loss distributions: it composes the laws of the
// privacy loss of all events and reads epsilon and delta off the sum. Its
// brackets are certified: the upper end comes from laws that dominate the
// events', the lower end from laws that the events dominate, and the errors of
// truncation, of the numerical inversion and of floating point are bounded and
// rounded outward (docs/proofs/pld.md).
//
// Where a tight dominating pair is known (every event but those sampled without
// replacement, and those sampled under replace_one whose noise is not Gaussian)
// the bracket is a few parts in ten thousand wide. For the others Lower is what
// neighbouring datasets can really reach and Upper is proven, so that the width
// says what is not known.
//
// The zero value is not usable; call [NewPLD]. A PLD is not safe for concurrent
// use.
type PLD struct {
	adj    dp.Adjacency
	events []counts
}

// counts is one kind of run, with how often it happens.
type counts struct {
	event dp.Event
	count int64
}

// maxRuns bounds the number of runs of one event, so that it is exact as a
// float64 and so that its rounding errors stay small.
const maxRuns = 1 << 32

// NewPLD returns an accountant to which nothing is charged yet.
func NewPLD(adj dp.Adjacency) *PLD { return &PLD{adj: adj} }

// String implements [Accountant].
func (p *PLD) String() string { return "pld" }

// Adjacency implements [Accountant].
func (p *PLD) Adjacency() dp.Adjacency { return p.adj }

// Compose implements [Accountant].
func (p *PLD) Compose(event dp.Event, count int64) error {
	if err := checkCompose(p.adj, event, count); err != nil {
		return err
	}
	next := append([]counts(nil), p.events...)
	err := leaves(event, count, func(leaf dp.Event, n int64) error {
		leaf, err := reduce(leaf)
		if err != nil {
			return err
		}
		if _, err := p.views(leaf); err != nil {
			return err
		}
		next, err = charge(next, leaf, n)
		return err
	})
	if err == nil {
		p.events = next
	}
	return err
}

// charge adds n runs of a leaf, merged with runs of the same leaf before.
func charge(events []counts, leaf dp.Event, n int64) ([]counts, error) {
	for i := range events {
		if events[i].event == leaf {
			n += events[i].count
			events = append(events[:i:i], events[i+1:]...)
			break
		}
	}
	if n > maxRuns || n < 0 {
		return nil, fmt.Errorf("%w: %s: more than 2^32 runs in all; want fewer", ErrUncertified, leaf.Kind())
	}
	return append(events, counts{leaf, n}), nil
}

// Delta implements [Accountant].
func (p *PLD) Delta(epsilon float64) (Bracket, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Bracket{}, err
	}
	if exact, ok := p.closed(); ok {
		return exact.Delta(epsilon)
	}
	return p.ask(func(c lossdist.Composition, enough float64) (lower, upper float64) { return c.Delta(epsilon, enough) })
}

// Epsilon implements [Accountant]. At delta 0 it is the sum of the events' largest
// losses, where they have one.
func (p *PLD) Epsilon(delta float64) (Bracket, error) {
	if err := checkDelta(delta); err != nil {
		return Bracket{}, err
	}
	if exact, ok := p.closed(); ok {
		return exact.Epsilon(delta)
	}
	if delta == 0 {
		return p.pure()
	}
	b, err := p.ask(func(c lossdist.Composition, enough float64) (lower, upper float64) { return c.Epsilon(delta, enough) })
	if err == nil && math.IsInf(b.Upper, 1) {
		return Bracket{}, fmt.Errorf("%w: no epsilon is certain to hold at delta %v, which the events' own deltas use up; raise delta", ErrUncertified, delta)
	}
	return b, err
}

// pure adds up the largest losses of all runs: independent runs reach them
// together.
func (p *PLD) pure() (Bracket, error) {
	var total Bracket
	for _, e := range p.events {
		one := NewClosedForm(p.adj)
		if err := one.Compose(e.event, 1); err != nil {
			return Bracket{}, err
		}
		b, err := one.Epsilon(0)
		if err != nil {
			return Bracket{}, err
		}
		n := float64(e.count)
		total = sum(total, Bracket{xmath.MulDown(n, b.Lower), xmath.MulUp(n, b.Upper)})
	}
	return total, nil
}

// closed returns the closed form of what was composed, where there is one.
func (p *PLD) closed() (*ClosedForm, bool) {
	exact := NewClosedForm(p.adj)
	for _, e := range p.events {
		if exact.Compose(e.event, e.count) != nil {
			return nil, false
		}
	}
	return exact, true
}

// ask puts the question to every composition that bounds the truth from above
// and takes the worst answer, and to every one that neighbours can realise. What
// cannot exceed an answer seen before is not computed to the end.
func (p *PLD) ask(question func(c lossdist.Composition, enough float64) (lower, upper float64)) (Bracket, error) {
	var out Bracket
	for _, v := range p.allViews() {
		c, err := p.composition(v)
		if err != nil {
			return Bracket{}, err
		}
		enough := out.Lower
		if v.dominates() && v.realised() {
			enough = out.Upper
		}
		lower, upper := question(c, enough)
		if math.IsNaN(lower) || math.IsNaN(upper) || lower > upper {
			return Bracket{}, fmt.Errorf("%w: the PLD accountant's bounds cross for these events; use the rdp accountant", ErrUncertified)
		}
		if v.realised() {
			out.Lower = max(out.Lower, lower)
		}
		if v.dominates() {
			out.Upper = max(out.Upper, upper)
		}
	}
	return Bracket{max(0, out.Lower), max(out.Lower, out.Upper)}, nil
}

// composition is the sum of the events' losses as one view sees it.
func (p *PLD) composition(v view) (lossdist.Composition, error) {
	var c lossdist.Composition
	for _, e := range p.events {
		if g, ok := e.event.(dp.Gaussian); ok {
			square := gaussianSquare(p.adj, g, e.count)
			c.Gaussian[0] = xmath.AddDown(c.Gaussian[0], square.Lower)
			c.Gaussian[1] = xmath.AddUp(c.Gaussian[1], square.Upper)
			continue
		}
		part, err := p.part(e.event, v)
		if err != nil {
			return c, err
		}
		part.Count = float64(e.count)
		c.Parts = append(c.Parts, part)
	}
	return c, nil
}
