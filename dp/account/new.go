package account

import (
	"context"
	"errors"

	"github.com/discreet-rl/discreet/dp"
)

// New returns the accountant to use unless there is a reason for another: closed forms while what
// was composed has one, else privacy-loss distributions. The answer is a certified bracket in both
// cases. Once it has composed an event of which only Renyi divergences are known (zcdp, some
// discrete Gaussian noise on vectors), it accounts for all events by Renyi divergences, and the
// answer is an upper bound; the accountant's name says which it is. An event that none of them
// supports is refused, and a looser accountant never replaces a tighter one that fails.
func New(adj dp.Adjacency, options ...Option) Accountant {
	b := &tightest{adj: adj, closed: newClosedForm(adj), pld: newPLD(adj, options...)}
	b.closed.known = b.pld.known
	return b
}

// tightest composes in both accountants. Those that are not nil hold everything
// that was composed, and there is at least one of them.
type tightest struct {
	adj    dp.Adjacency
	closed *closedForm     // nil once something had no closed form
	pld    *lossAccountant // nil once something had no loss distribution
	pldErr error           // why
	rdp    *RDP            // set in their place once something had Renyi divergences alone
}

// best is the accountant that answers.
func (b *tightest) best() Accountant {
	switch {
	case b.rdp != nil:
		return b.rdp
	case b.closed != nil:
		return b.closed
	}
	return b.pld
}

func (b *tightest) String() string { return b.best().String() }

func (b *tightest) Adjacency() dp.Adjacency { return b.adj }

func (b *tightest) Compose(ctx context.Context, event dp.Event, count int64) error {
	if b.rdp != nil {
		return b.rdp.Compose(ctx, event, count)
	}
	if b.closed == nil {
		return b.turn(ctx, event, count, b.pld.Compose(ctx, event, count))
	}
	closedErr := b.closed.Compose(ctx, event, count)
	if b.pld == nil {
		if closedErr != nil {
			return b.pldErr
		}
		return nil
	}
	pldErr := b.pld.Compose(ctx, event, count)
	switch {
	case closedErr == nil && pldErr != nil:
		b.pld, b.pldErr = nil, pldErr
	case closedErr != nil && pldErr != nil:
		return b.turn(ctx, event, count, pldErr)
	case closedErr != nil:
		b.closed = nil
	}
	return nil
}

// turn passes on what the PLD accountant said of an event, unless that was that
// only Renyi divergences are known of it: then all events so far and this one are
// composed by theirs.
func (b *tightest) turn(ctx context.Context, event dp.Event, count int64, pldErr error) error {
	if !errors.Is(pldErr, errRenyiOnly) {
		return pldErr
	}
	rdp := NewRDP(b.adj)
	for _, e := range b.pld.events {
		if rdp.Compose(ctx, e.event, e.count) != nil {
			return pldErr
		}
	}
	if rdp.Compose(ctx, event, count) != nil {
		return pldErr
	}
	b.closed, b.pld, b.rdp = nil, nil, rdp
	return nil
}

func (b *tightest) Epsilon(ctx context.Context, delta float64) (Bracket, error) {
	return b.best().Epsilon(ctx, delta)
}

func (b *tightest) Delta(ctx context.Context, epsilon float64) (Bracket, error) {
	return b.best().Delta(ctx, epsilon)
}
