package account

import "github.com/discreet-rl/discreet/dp"

// New returns the accountant to use unless there is a reason for another: closed
// forms while what was composed has one, else privacy-loss distributions. The
// answer is a certified bracket in both cases, and an event that neither
// supports is refused; it never turns to a looser accountant by itself.
func New(adj dp.Adjacency) Accountant {
	return &tightest{adj: adj, closed: NewClosedForm(adj), pld: NewPLD(adj)}
}

// tightest composes in both accountants. At least one of them is not nil and
// holds everything that was composed.
type tightest struct {
	adj    dp.Adjacency
	closed *ClosedForm // nil once something had no closed form
	pld    *PLD        // nil once something had no loss distribution
	pldErr error       // why
}

func (b *tightest) String() string {
	if b.closed != nil {
		return b.closed.String()
	}
	return b.pld.String()
}

func (b *tightest) Adjacency() dp.Adjacency { return b.adj }

func (b *tightest) Compose(event dp.Event, count int64) error {
	if b.closed == nil {
		return b.pld.Compose(event, count)
	}
	closedErr := b.closed.Compose(event, count)
	if b.pld == nil {
		if closedErr != nil {
			return b.pldErr
		}
		return nil
	}
	pldErr := b.pld.Compose(event, count)
	switch {
	case closedErr == nil && pldErr != nil:
		b.pld, b.pldErr = nil, pldErr
	case closedErr != nil && pldErr != nil:
		return pldErr
	case closedErr != nil:
		b.closed = nil
	}
	return nil
}

func (b *tightest) Epsilon(delta float64) (Bracket, error) {
	if b.closed != nil {
		return b.closed.Epsilon(delta)
	}
	return b.pld.Epsilon(delta)
}

func (b *tightest) Delta(epsilon float64) (Bracket, error) {
	if b.closed != nil {
		return b.closed.Delta(epsilon)
	}
	return b.pld.Delta(epsilon)
}
