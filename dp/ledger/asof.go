package ledger

import (
	"context"
	"time"

	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// asOf returns the totals with budget and spending as they were before a time, and what each
// analyst spent since then. It reads the entries since then.
func (l *Ledger) asOf(tx *store.Tx, totals chain.Totals, at time.Time) (chain.Totals, map[string]account.Cost, error) {
	since := map[string]account.Cost{}
	if at.IsZero() {
		return totals, since, nil
	}
	for seq, _ := tx.Head(); ; seq-- {
		row, err := tx.Entry(seq)
		if err != nil {
			return totals, nil, err
		}
		e, err := chain.Parse(row.Body)
		if err != nil {
			return totals, nil, store.Abort(l.tampered(seq, "it cannot be read"))
		}
		if e.Time.Before(at) || seq == 0 {
			totals.Budget, totals.Spent = e.Totals.Budget, e.Totals.Spent
			return totals, since, nil
		}
		if e.Kind == chain.Charge {
			since[e.Charge.Analyst] = since[e.Charge.Analyst].Plus(e.Charge.Cost)
		}
	}
}

// StateAt returns the state of the ledger with its budget and what was spent, by whom, as they
// were before a time. Everything else is as it is now.
func (l *Ledger) StateAt(ctx context.Context, at time.Time) (s *Summary, err error) {
	err = l.view(ctx, func(tx *store.Tx) error {
		if s, err = l.summary(tx); err != nil {
			return err
		}
		totals, since, err := l.asOf(tx, chain.Totals{Budget: s.Budget, Spent: s.Totals}, at)
		if err != nil {
			return err
		}
		s.Budget, s.Totals = totals.Budget, totals.Spent
		limits, err := l.limits(s.Budget)
		if err == nil {
			s.Spent, err = l.meter.Spent(s.Totals, limits)
		}
		s.Left = l.meter.Left(s.Totals, limits)
		for i := range s.Analysts {
			a := &s.Analysts[i]
			own := limits
			if a.Totals = left(since[a.Analyst], a.Totals); a.Share != nil && err == nil {
				var kept analyst
				if kept, err = l.analyst(tx, a.Analyst); err == nil {
					own, err = l.meter.Limits(kept.Share.Budget, kept.Share.Reserve)
				}
			}
			if err == nil {
				a.Spent, err = l.meter.Spent(a.Totals, own)
			}
		}
		return store.Abort(err)
	})
	return s, err
}
