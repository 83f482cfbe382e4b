package account

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account/internal/lossdist"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// lossAccountant accounts by privacy-loss distributions: it composes the laws of the
// privacy loss of all events and reads epsilon and delta off the sum. Its
// brackets are certified: the upper end comes from laws that dominate the
// events', the lower end from laws that the events dominate, and the errors of
// truncation, of the numerical inversion and of floating point are bounded and
// rounded outward (docs/proofs/pld.md).
//
// Where a tight dominating pair is known (every event but those sampled without replacement, and
// those sampled under replace_one whose noise is not Gaussian) the bracket is a few parts in ten
// thousand wide. For the others Lower is reached by some pair of neighbouring datasets and Upper is
// proven, so the width shows what is not known.
//
// The zero value is not usable; call [NewPLD]. A PLD is not safe for concurrent
// use.
type lossAccountant struct {
	adj    dp.Adjacency
	events []counts
	at     map[dp.Event]int // where in events
	known  discreteCache
	settings
}

// counts is one kind of run, with how often it happens.
type counts struct {
	event dp.Event
	count int64
}

// maxRuns bounds the number of runs of one event, so that it is exact as a
// float64 and so that its rounding errors stay small.
const maxRuns = 1 << 32

// farEpsilon is where losses on a grid that reaches that far begin to lose their digits.
const farEpsilon = 1e15

// NewPLD returns the accountant by privacy-loss distributions, to which nothing is charged yet.
func NewPLD(adj dp.Adjacency, options ...Option) Accountant { return newPLD(adj, options...) }

func newPLD(adj dp.Adjacency, options ...Option) *lossAccountant {
	p := &lossAccountant{adj: adj, at: map[dp.Event]int{}, known: discreteCache{}}
	for _, o := range options {
		o(&p.settings)
	}
	return p
}

// String implements [Accountant].
func (p *lossAccountant) String() string { return "pld" }

// Adjacency implements [Accountant].
func (p *lossAccountant) Adjacency() dp.Adjacency { return p.adj }

// Compose implements [Accountant].
func (p *lossAccountant) Compose(ctx context.Context, event dp.Event, count int64) error {
	if err := checkCompose(p.adj, event, count); err != nil {
		return err
	}
	// Nothing is charged before every leaf is known to have a loss.
	var runs []counts
	totals := map[dp.Event]int64{}
	err := leaves(event, count, func(leaf dp.Event, n int64) error {
		leaf, err := reduce(leaf)
		if err != nil {
			return err
		}
		if _, err := p.needs(ctx, leaf); err != nil {
			return err
		}
		total := int64(0)
		if mergeable(leaf) {
			var seen bool
			if total, seen = totals[leaf]; !seen {
				total = p.count(leaf)
			}
			totals[leaf] = total + n
		}
		if n > maxRuns-total {
			return fmt.Errorf("%w: %s: more than 2^32 runs in all; want fewer", ErrUncertified, leaf.Kind())
		}
		runs = append(runs, counts{leaf, n})
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range runs {
		p.charge(r)
	}
	return nil
}

// count is how many runs of a reduced leaf were charged.
func (p *lossAccountant) count(leaf dp.Event) int64 {
	if i, ok := p.at[leaf]; ok {
		return p.events[i].count
	}
	return 0
}

// charge adds runs of a reduced leaf, merged with runs of the same leaf before.
func (p *lossAccountant) charge(r counts) {
	if mergeable(r.event) {
		if i, ok := p.at[r.event]; ok {
			p.events[i].count += r.count
			return
		}
		p.at[r.event] = len(p.events)
	}
	p.events = append(p.events, r)
}

// Delta implements [Accountant].
func (p *lossAccountant) Delta(ctx context.Context, epsilon float64) (Bracket, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Bracket{}, err
	}
	if exact, ok := p.closed(ctx); ok {
		return exact.Delta(ctx, epsilon)
	}
	b, err := p.ask(ctx, func(c lossdist.Composition, enough float64) (lower, upper float64, err error) {
		return c.Delta(ctx, epsilon, enough)
	})
	if epsilon > farEpsilon && err == nil { // what holds at a smaller epsilon holds here
		near, err := p.Delta(ctx, farEpsilon)
		if err != nil {
			return near, err
		}
		b.Upper = min(b.Upper, near.Upper)
		b.Lower = min(b.Lower, b.Upper)
	}
	return certain(Bracket{min(b.Lower, 1), min(b.Upper, 1)}, err)
}

// Epsilon implements [Accountant]. At delta 0 it is the sum of the events' largest
// losses, where they have one.
func (p *lossAccountant) Epsilon(ctx context.Context, delta float64) (Bracket, error) {
	if err := checkDelta(delta); err != nil {
		return Bracket{}, err
	}
	if exact, ok := p.closed(ctx); ok {
		return exact.Epsilon(ctx, delta)
	}
	if delta == 0 {
		return certain(p.pure(ctx))
	}
	b, err := p.ask(ctx, func(c lossdist.Composition, enough float64) (lower, upper float64, err error) {
		return c.Epsilon(ctx, delta, enough)
	})
	if err == nil && math.IsInf(b.Upper, 1) {
		return Bracket{}, p.noEpsilon(delta)
	}
	return certain(b, err)
}

// noEpsilon says why no epsilon is certain at delta.
func (p *lossAccountant) noEpsilon(delta float64) error {
	// What trimming adds to the deltas that the events state is far below this.
	if own := p.ownDelta(); own >= delta*(1-1e-4) {
		return fmt.Errorf("%w: no epsilon is certain to hold at delta %v: the (epsilon, delta) events themselves fail with probability %v; raise delta", ErrUncertified, delta, own)
	}
	return fmt.Errorf("%w: no epsilon is certain to hold at delta %v: the PLD accountant's numerics leave more mass than that unresolved, for the losses are large or delta is tiny; add noise or raise delta", ErrUncertified, delta)
}

// ownDelta is about the probability that some (epsilon, delta) event fails.
func (p *lossAccountant) ownDelta() float64 {
	log := 0.0
	for _, e := range p.events {
		event, rate := e.event, 1.0
		if s, ok := event.(dp.PoissonSampled); ok {
			event, rate = s.Event, s.Rate
		}
		if s, ok := event.(dp.SampledWithoutReplacement); ok {
			event, rate = s.Event, float64(s.Sample)/float64(s.Population)
		}
		switch a := event.(type) {
		case dp.ApproximateDP:
			log += float64(e.count) * math.Log1p(-rate*a.Delta)
		case dp.PrivacyLoss:
			log += float64(e.count) * math.Log1p(-givenProfile(a).floor)
		}
	}
	return -math.Expm1(log)
}

// pure adds up the largest losses of all runs: independent runs reach them
// together.
func (p *lossAccountant) pure(ctx context.Context) (Bracket, error) {
	var total Bracket
	for _, e := range p.events {
		one := newClosedForm(p.adj)
		if err := one.Compose(ctx, e.event, 1); errors.Is(err, ErrUnsupported) {
			return Bracket{}, unsupported(e.event, "has no epsilon at delta 0 here: its largest privacy loss is unbounded or not known; ask at a delta above 0")
		} else if err != nil {
			return Bracket{}, err
		}
		b, err := one.Epsilon(ctx, 0)
		if err != nil {
			return Bracket{}, err
		}
		n := float64(e.count)
		total = sum(total, Bracket{xmath.MulDown(n, b.Lower), xmath.MulUp(n, b.Upper)})
	}
	if math.IsInf(total.Upper, 1) {
		return Bracket{}, fmt.Errorf("%w: the summed privacy losses exceed every float64; the events need more noise", ErrUncertified)
	}
	return total, nil
}

// closed returns the closed form of what was composed, where there is one.
func (p *lossAccountant) closed(ctx context.Context) (*closedForm, bool) {
	exact := newClosedForm(p.adj)
	exact.known = p.known
	for _, e := range p.events {
		if exact.Compose(ctx, e.event, e.count) != nil {
			return nil, false
		}
	}
	return exact, true
}

// ask computes the answer for every composition that bounds the truth from above and takes the
// worst, and likewise for every composition that neighbours can realise. A composition that cannot
// exceed an earlier answer is not computed to the end.
func (p *lossAccountant) ask(ctx context.Context, question func(c lossdist.Composition, enough float64) (lower, upper float64, err error)) (Bracket, error) {
	var out Bracket
	for _, v := range p.allViews(ctx) {
		c, err := p.composition(ctx, v)
		if err != nil {
			return Bracket{}, err
		}
		enough := out.Lower
		if v.dominates && v.realised {
			enough = out.Upper
		}
		lower, upper, err := question(c, enough)
		if err != nil {
			return Bracket{}, err
		}
		if math.IsNaN(lower) || math.IsNaN(upper) || lower > upper {
			return Bracket{}, fmt.Errorf("%w: the PLD accountant's bounds cross for these events; this is a fault of its numerics: please report the events", ErrUncertified)
		}
		if v.realised {
			out.Lower = max(out.Lower, lower)
		}
		if v.dominates {
			out.Upper = max(out.Upper, upper)
		}
	}
	return Bracket{max(0, out.Lower), max(out.Lower, out.Upper)}, nil
}

// composition is the sum of the events' losses as one view sees it.
func (p *lossAccountant) composition(ctx context.Context, v view) (lossdist.Composition, error) {
	c := lossdist.Composition{Width: p.width}
	for _, e := range p.events {
		if square, ok := muSquare(p.adj, e.event, e.count); ok {
			c.Gaussian[0] = xmath.AddDown(c.Gaussian[0], square.Lower)
			c.Gaussian[1] = xmath.AddUp(c.Gaussian[1], square.Upper)
			continue
		}
		if g, ok := e.event.(dp.DiscreteGaussian); ok {
			if d := p.known.of(p.adj, g); d.square.Upper > 0 {
				square := runs(d.square, e.count)
				c.Gaussian[0] = xmath.AddDown(c.Gaussian[0], square.Lower)
				c.Gaussian[1] = xmath.AddUp(c.Gaussian[1], square.Upper)
				continue
			}
		}
		part, err := p.part(ctx, e.event, v)
		if err != nil {
			return c, err
		}
		part.Count = float64(e.count)
		c.Parts = append(c.Parts, part)
	}
	return c, nil
}
