package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// FailedCheck is a check of the data that no charge has paid for: it failed, it was cut
// off, or it has not ended yet.
type FailedCheck struct {
	// Time is in UTC; Analyst asked.
	Time    time.Time `json:"time"`
	Analyst string    `json:"analyst"`
}

// failedChecks lists the checks that the store counts.
func failedChecks(tx *store.Tx) ([]FailedCheck, error) {
	checks, err := tx.Checks()
	if err != nil {
		return nil, err
	}
	var all []FailedCheck
	for _, c := range checks {
		all = append(all, FailedCheck(c))
	}
	return all, nil
}

// DefaultFailedChecks is how many checks may fail where nothing else is said.
const DefaultFailedChecks = 3

// BeginCheck asks, before the data are read, whether a charge would be taken: its
// names, adjacency and unit, the analyst, the version of the contract, the budget and
// the share, the witnesses, and that fewer than most checks are unpaid ([ErrChecks]).
// If so it notes a check durably, as if it had failed: not in the chain, whose numbers
// stand in releases, nor in exports and backups; of what is asked it notes a keyed hash.
// The charge takes it back if it has its number, [Charge].Check; whatever else becomes of the
// check, it counts. So checks that run at once, and processes that are killed, count as those
// that fail. It returns the number and how many are unpaid, this one included.
//
// The check that was begun last stays open: the same charge, with its key and its
// fingerprint of the data, goes on with it under the same number, for it can learn nothing
// new. Any other check closes it, and then it has failed. Without a fingerprint none stays
// open.
//
// Whether the key was charged before is not asked; see [Ledger.Fits].
func (l *Ledger) BeginCheck(ctx context.Context, c Charge, most int) (id int64, n int, err error) {
	body, err := l.body(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	asked, err := l.fingerprint(body)
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
		if err != nil {
			return err
		}
		open, before, err := w.tx.OpenCheck()
		if err != nil {
			return err
		}
		if open != 0 && before == asked && body.Fingerprint != "" {
			id, n = open, len(all)
			return nil
		}
		if err := l.tooMany(len(all), most); err != nil {
			return store.Abort(err)
		}
		n = len(all) + 1
		if id, err = w.tx.AddCheck(body.Analyst); err != nil {
			return err
		}
		return w.tx.KeepOpen(id, asked)
	})
	if err != nil {
		return 0, 0, err
	}
	return id, n, nil
}

// fingerprint is a keyed hash of all that a check depends on: who asks what, under which key, with
// which program, of which data.
func (l *Ledger) fingerprint(body *chain.ChargeBody) (string, error) {
	event, err := dp.MarshalEvent(body.Event)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal([]string{body.Key, body.Analyst, string(event), body.CodeVersion, body.ConfigHash, strconv.FormatInt(body.Contract, 10), body.Fingerprint})
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrCharge, err)
	}
	mac := hmac.New(sha256.New, subkey(l.key, "open-check"))
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil)), nil
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
		all, err = failedChecks(tx)
		return err
	})
	return all, err
}

// ClearChecks forgets the failed checks, those that have not ended among them, and
// returns them.
func (l *Ledger) ClearChecks(ctx context.Context) (all []FailedCheck, err error) {
	err = l.locked(ctx, func(tx *store.Tx) (err error) {
		if all, err = failedChecks(tx); err != nil {
			return err
		}
		return tx.ClearChecks()
	})
	return all, err
}

// FailCheck says that a check was answered, and failed: nothing goes on with it.
func (l *Ledger) FailCheck(ctx context.Context, id int64) error {
	return l.locked(ctx, func(tx *store.Tx) error { return tx.CloseCheck(id) })
}

// MayCheck refuses with [ErrChecks] where most checks have failed: each tells at most
// one bit of the data, and the steward has to look before there are more. One that is open
// may still be gone on with, which [Ledger.BeginCheck] decides.
func (l *Ledger) MayCheck(ctx context.Context, most int) error {
	failed := 0
	err := l.view(ctx, func(tx *store.Tx) error {
		all, err := tx.Checks()
		if err != nil {
			return err
		}
		open, _, err := tx.OpenCheck()
		if failed = len(all); open != 0 {
			failed--
		}
		return err
	})
	if err != nil {
		return err
	}
	return l.tooMany(failed, most)
}

func (l *Ledger) tooMany(n, most int) error {
	if n < most {
		return nil
	}
	return fmt.Errorf("%w: dataset %q: %d checks of the data failed, and each may tell of them; nothing is read until those that still run have ended, or the steward has looked (discreet ledger show) and cleared them (discreet ledger clear)", ErrChecks, l.open.Dataset, n)
}
