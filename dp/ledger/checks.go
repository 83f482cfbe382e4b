package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
)

// FailedCheck is a check of the data that no charge has paid for: it failed, it was cut
// off, or it has not ended yet.
type FailedCheck = store.Check

// DefaultFailedChecks is how many checks may fail where nothing else is said.
const DefaultFailedChecks = 3

// BeginCheck asks, before the data are opened, whether a charge would be taken: its
// names, adjacency and unit, the analyst, the version of the contract, the budget and
// the share, the witnesses, and that fewer than most checks are unpaid ([ErrChecks]).
// If so it notes a check durably, as if it had failed: not in the chain, whose numbers
// stand in releases, nor in exports and backups; with no word of what is asked. The
// charge takes it back if it has its number, [Charge].Check; whatever else becomes of the check, it
// counts. So checks that run at once, and processes that are killed, count as those
// that fail. It returns the number and how many are unpaid, this one included.
//
// Whether the key was charged before is not asked; see [Ledger.Fits].
func (l *Ledger) BeginCheck(ctx context.Context, c Charge, most int) (id int64, n int, err error) {
	body, err := l.body(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	err = l.update(ctx, func(w *writer) error {
		if _, err := l.consult(ctx, w.tx); err != nil {
			return err
		}
		if _, _, err := l.mayCharge(w.tx, w.last.Totals, body, c.Delta); err != nil {
			return err
		}
		all, err := w.tx.Checks()
		if err == nil {
			err = store.Abort(l.tooMany(len(all), most))
		}
		if err != nil {
			return err
		}
		n = len(all) + 1
		id, err = w.tx.AddCheck(body.Analyst)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return id, n, nil
}

// answered takes back the checks of charges whose answer was paid for before. Where that
// cannot be done they stay counted, and show lists them.
func (l *Ledger) answered(ctx context.Context, err error, charges []Charge) error {
	var recorded *RecordedError
	none := !slices.ContainsFunc(charges, func(c Charge) bool { return c.Check != 0 })
	if none || !errors.As(err, &recorded) {
		return err
	}
	undone := l.locked(ctx, func(tx *store.Tx) error {
		for _, c := range charges {
			if err := tx.EndCheck(c.Check); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, undone)
}

// FailedChecks lists the checks that are unpaid since they were last cleared.
func (l *Ledger) FailedChecks(ctx context.Context) (all []FailedCheck, err error) {
	err = l.view(ctx, func(tx *store.Tx) (err error) {
		all, err = tx.Checks()
		return err
	})
	return all, err
}

// ClearChecks forgets the failed checks, those that have not ended among them, and
// returns them.
func (l *Ledger) ClearChecks(ctx context.Context) (all []FailedCheck, err error) {
	err = l.locked(ctx, func(tx *store.Tx) (err error) {
		if all, err = tx.Checks(); err != nil {
			return err
		}
		return tx.ClearChecks()
	})
	return all, err
}

// MayCheck refuses with [ErrChecks] where most checks are unpaid: each tells at most
// one bit of the data, and the steward has to look before there are more.
func (l *Ledger) MayCheck(ctx context.Context, most int) error {
	all, err := l.FailedChecks(ctx)
	if err != nil {
		return err
	}
	return l.tooMany(len(all), most)
}

func (l *Ledger) tooMany(n, most int) error {
	if n < most {
		return nil
	}
	return fmt.Errorf("%w: dataset %q: %d checks of the data failed, and each may tell of them; nothing is read until those that still run have ended, or the steward has looked (discreet ledger show) and cleared them (discreet ledger clear)", ErrChecks, l.open.Dataset, n)
}
