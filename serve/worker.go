package serve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/internal/evaluation"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

const (
	// defaultHold is how long a worker that is not heard of keeps its ask.
	defaultHold = 30 * time.Second
	// look is how often workers look for asks that another process took in.
	look = time.Second
)

// What an analyst is told. None of it depends on what is in the data, but for the fact
// that a check failed.
const (
	toldChecks  = "the data could not be read as the steward's configuration says, or a check of them failed; the steward has been told, and nothing was spent"
	toldStop    = "checks of this dataset failed before, and the steward has to look at them first; asks wait until then, and nothing was spent"
	toldPending = "the budget is spent and there is no answer: the run was interrupted after the charge; the steward has been told"
)

// work answers asks until stop is closed, one at a time. An ask that is being answered
// then is brought to its end.
func (s *Service) work(ctx context.Context, stop <-chan struct{}) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		default:
		}
		l, err := s.store.Take(ctx, s.names, s.hold)
		if err == nil {
			s.answer(ctx, l)
			continue
		}
		if !errors.Is(err, asks.ErrNone) {
			s.log.Error("the store gives out no ask", "error", err)
		}
		select {
		case <-stop:
			return
		case <-s.wake:
		case <-tick.C:
		}
	}
}

// answer runs one ask and writes down what became of it. Its lease is held meanwhile.
func (s *Service) answer(ctx context.Context, l *asks.Lease) {
	held, done := context.WithCancel(ctx)
	var holding sync.WaitGroup
	holding.Go(func() { s.extend(held, l) })
	o := s.outcome(ctx, l)
	done()
	holding.Wait()
	d := s.datasets[l.Dataset]
	o.Every = d.every
	paid, err := d.paidBy(ctx, l.LedgerKey(), o)
	if err != nil {
		s.log.Error("the end of an ask could not be written down", "ask", l.ID, "error", err)
		return
	}
	o.Paid = paid
	if err := s.store.Finish(ctx, l, o); err != nil {
		// It stays running; whoever takes it over finds in the ledger what became of it.
		s.log.Error("the end of an ask could not be written down", "ask", l.ID, "error", err)
		return
	}
	if o.State == asks.Queued && o.Unread && !l.Uncounted() {
		s.putBack[d.name].Inc()
	}
	s.changed.Broadcast()
	_ = d.compare(ctx, false) // the store sees the charge
}

// extend holds a lease until ctx ends.
func (s *Service) extend(ctx context.Context, l *asks.Lease) {
	tick := time.NewTicker(s.hold / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.store.Extend(ctx, l, s.hold); err != nil && ctx.Err() == nil {
				s.log.Warn("a lease could not be extended", "ask", l.ID, "error", err)
			}
		}
	}
}

// outcome asks the question, under the ledger's key of the ask: whatever was charged for it
// before is not charged again. An ask that ran before, and one whose key was charged, ends as
// the ledger has it.
func (s *Service) outcome(ctx context.Context, l *asks.Lease) asks.Outcome {
	d := s.datasets[l.Dataset]
	if err := d.intact(ctx); err != nil {
		return asks.Outcome{State: asks.Queued, Notices: []string{err.Error()}, Unread: true, Open: l.Begun()}
	}
	if l.Again() {
		if o, ok, err := settled(ctx, d.ledger, l.LedgerKey()); err != nil || ok {
			return s.orLater(l, o, err)
		}
	}
	c, err := s.compose(ctx, d, l.Analyst, l.Question, l.Purpose)
	if err == nil {
		_, err = d.desk.Quote(ctx, c) // without the data, so that what is wrong with the question is known to be that
	}
	if err != nil {
		return asks.Outcome{State: asks.Refused, Reason: s.public(d, err.Error())}
	}
	read := false
	result, err := evaluation.EvaluateAt(ctx, d.desk, c, evaluation.Settings{Key: l.LedgerKey(), Retry: true, Begun: func() { read = true }})
	if err == nil {
		return asks.Outcome{State: asks.Released, Release: result.JSON, Notices: result.Notices}
	}
	if errors.Is(err, ledger.ErrKeyReused) {
		if o, ok, err := settled(ctx, d.ledger, l.LedgerKey()); err != nil || ok {
			return s.orLater(l, o, err)
		}
	}
	o := s.failure(d, err)
	// Whether an ask waits for failed checks depends on the data, too.
	o.Unread = !read && !errors.Is(err, ledger.ErrChecks)
	o.Open = o.Open && (read || l.Begun())
	return o
}

// orLater puts an ask back whose ledger does not answer.
func (s *Service) orLater(l *asks.Lease, o asks.Outcome, err error) asks.Outcome {
	if err != nil {
		s.log.Error("the ledger does not tell what became of an ask", "error", err)
		return asks.Outcome{State: asks.Queued, Notices: []string{err.Error()}, Unread: true, Open: l.Begun()}
	}
	return o
}

// failure says what an error of a run means.
func (s *Service) failure(d *dataset, err error) asks.Outcome {
	var pending *ledger.PendingError
	var refused *ledger.RefusedError
	switch {
	case errors.As(err, &pending), errors.Is(err, ledger.ErrPending):
		return asks.Outcome{State: asks.Pending, Reason: toldPending, Notices: []string{err.Error()}}
	case errors.Is(err, ledger.ErrUnknown), errors.Is(err, ledger.ErrStore), errors.Is(err, ledger.ErrBusy), errors.Is(err, ledger.ErrWitness), errors.Is(err, ledger.ErrBehind), errors.Is(err, ledger.ErrTampered):
		return asks.Outcome{State: asks.Queued, Notices: []string{err.Error()}, Open: true} // the same key learns what became of it
	case errors.Is(err, ledger.ErrKeyReused):
		return asks.Outcome{State: asks.Queued, Notices: []string{err.Error()}}
	case errors.As(err, &refused):
		return asks.Outcome{State: asks.Refused, Reason: s.public(d, refused.Error())}
	case errors.Is(err, ledger.ErrAnalyst), errors.Is(err, ledger.ErrContract):
		return asks.Outcome{State: asks.Refused, Reason: s.public(d, err.Error()), Notices: []string{err.Error()}}
	case errors.Is(err, ledger.ErrChecks):
		return asks.Outcome{State: asks.Queued, Notices: []string{err.Error()}} // until the steward has cleared them
	}
	return asks.Outcome{State: asks.Refused, Reason: toldChecks, Notices: []string{err.Error()}}
}
