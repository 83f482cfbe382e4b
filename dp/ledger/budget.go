package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// SetBudget changes the budget, by an entry that says so and why. A budget below
// what is spent is refused with [ErrBudget]; the reserve stays as it was created.
//
// A budget that is raised because of what releases showed is not a bound that was
// fixed in advance: decide on it without looking at them (docs/proofs/ledger.md).
func (l *Ledger) SetBudget(ctx context.Context, to dp.Budget, reason string) error {
	if err := plainText("reason", reason, true); err != nil {
		return fmt.Errorf("%w: %v; say why the budget changes", ErrConfig, err)
	}
	limits, err := l.limits(to)
	if err != nil {
		return err
	}
	behind, err := l.extend(ctx, func(w *writer) error {
		totals := w.last.Totals
		if !totals.Spent.Within(limits.Most) {
			return store.Abort(fmt.Errorf("%w: dataset %q: more than epsilon %v, delta %v is spent; a budget cannot be set below that", ErrBudget, l.open.Dataset, to.Epsilon, to.Delta))
		}
		from := totals.Budget
		totals.Budget = to
		_, err := w.append(&chain.Entry{Kind: chain.Budget, Totals: totals, Budget: &chain.BudgetBody{From: from, To: to, Reason: reason}})
		return err
	})
	return errors.Join(err, behind)
}

// SetShare limits what an analyst may spend of the budget. The share is kept by
// the ledger's rule, with the same part of it in reserve as of the budget. A
// share above the budget, or below what the analyst spent, is refused, and so is,
// on a closed list, a name that could be taken for another: it is of the letters a
// to z, digits and . _ @ + -.
func (l *Ledger) SetShare(ctx context.Context, name string, share dp.Budget) error {
	if err := plainText("analyst", name, true); err != nil {
		return fmt.Errorf("%w: %v", ErrConfig, err)
	}
	behind, err := l.extend(ctx, func(w *writer) error {
		budget := w.last.Totals.Budget
		if share.Epsilon > budget.Epsilon || share.Delta > budget.Delta {
			return store.Abort(fmt.Errorf("%w: share (%v, %v) of a budget (%v, %v); want it within", ErrConfig, share.Epsilon, share.Delta, budget.Epsilon, budget.Delta))
		}
		body := &chain.ShareBody{Analyst: name, Budget: share, Reserve: l.reserveOf(share, budget)}
		limits, err := l.meter.Limits(body.Budget, body.Reserve)
		if err != nil {
			return store.Abort(err)
		}
		if err := l.mayBeListed(w.tx, name); err != nil {
			return err
		}
		a, err := l.analyst(w.tx, name)
		if err != nil {
			return err
		}
		if !a.Spent.Within(limits.Most) {
			return store.Abort(fmt.Errorf("%w: analyst %q has spent more than that share; want a larger one", ErrBudget, name))
		}
		if _, err := w.append(&chain.Entry{Kind: chain.Share, Share: body, Totals: w.last.Totals}); err != nil {
			return err
		}
		a.Share = body
		return setAnalyst(w.tx, name, a)
	})
	return errors.Join(err, behind)
}

// reserveOf is the part of a share that is kept for charges that the rule does not support.
func (l *Ledger) reserveOf(share, budget dp.Budget) dp.Budget {
	if l.open.Rule == account.Basic.String() {
		return dp.Budget{}
	}
	part := func(share, budget, reserve float64) float64 {
		if !(reserve > 0) {
			return 0
		}
		return math.Min(xmath.MulDown(share, xmath.DivDown(reserve, budget)), reserve)
	}
	return dp.Budget{
		Epsilon: part(share.Epsilon, budget.Epsilon, l.open.Reserve.Epsilon),
		Delta:   part(share.Delta, budget.Delta, l.open.Reserve.Delta),
	}
}
