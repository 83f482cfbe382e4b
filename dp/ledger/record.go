package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// Record stores the release that a receipt's run led to. It is called before the
// release is shown to anybody: only a recorded release can be shown again. The
// receipt must have been redeemed. To record the same bytes again is no error;
// other bytes are [ErrRecorded].
//
// The bytes may be anything. Where they are a JSON object, what they state of the
// charge, in the form of package evaluate's releases, has to be the charge's:
// another stamp, event, adjacency, unit, key, analyst, purpose, time or rule is
// [ErrRelease]. [Ledger.VerifyRelease] checks the budget as well.
func (l *Ledger) Record(ctx context.Context, r *receipt.Receipt, release []byte) error {
	switch {
	case !r.Charged():
		return fmt.Errorf("%w: nothing was charged, so there is nothing to record", receipt.ErrInvalid)
	case r.Stamp().Ledger != l.open.Ledger:
		return fmt.Errorf("%w: it is another ledger's; record the release in dataset %q of its own", receipt.ErrInvalid, r.Stamp().Dataset)
	case !r.Redeemed():
		return fmt.Errorf("%w: it was not redeemed, so no run can have led to a release", receipt.ErrInvalid)
	}
	stamp := *r.Stamp()
	stated, err := claimsOf(release)
	if err != nil {
		return err
	}
	if stated != nil && stated.stamp != nil && *stated.stamp != stamp {
		return fmt.Errorf("%w: it names another entry, or another head of the chain, than the receipt of entry %d; put the receipt's stamp into it", ErrRelease, stamp.Seq)
	}
	return l.update(ctx, func(w *writer) error {
		return l.record(w, stamp, release, stated)
	})
}

func (l *Ledger) record(w *writer, stamp receipt.Stamp, release []byte, stated *claims) error {
	charge, row, err := paidBy(w.tx, stamp)
	if err != nil {
		return err
	}
	paid, err := l.chargeIn(row)
	if err != nil {
		return store.Abort(err)
	}
	if err := stated.verify(paid, l.open); err != nil {
		return store.Abort(err)
	}
	if charge.Recorded != 0 {
		old, err := w.tx.Release(stamp.Seq)
		if err != nil {
			return err
		}
		if bytes.Equal(old, release) {
			return nil
		}
		return store.Abort(fmt.Errorf("%w: entry %d has another release", ErrRecorded, stamp.Seq))
	}
	return w.record(stamp.Seq, release)
}

// paidBy finds the charge of a receipt and its entry.
func paidBy(tx *store.Tx, stamp receipt.Stamp) (store.ChargeRow, store.Row, error) {
	charge, found, err := tx.ChargeAt(stamp.Seq)
	if err != nil {
		return charge, store.Row{}, err
	}
	row, err := tx.Entry(stamp.Seq)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return charge, row, err
	}
	if !found || toHash(row.Hash) != stamp.Entry {
		return charge, row, store.Abort(fmt.Errorf("%w: the ledger no longer holds the charge, entry %d; it was replaced by an older backup", ErrBehind, stamp.Seq))
	}
	return charge, row, nil
}

// record appends the entry that ties a release to its charge, and stores both.
func (w *writer) record(charge int64, release []byte) error {
	added, err := w.append(&chain.Entry{Kind: chain.Record, Totals: w.last.Totals, Record: &chain.RecordBody{
		Charge: charge, Release: chain.SumRelease(release), Size: int64(len(release)),
	}})
	if err != nil {
		return err
	}
	return w.tx.AddRelease(charge, added.Seq, release)
}

// chargeIn reads an entry that has to be a charge.
func (l *Ledger) chargeIn(row store.Row) (*chain.Entry, error) {
	e, err := chain.Parse(row.Body)
	if err != nil || e.Kind != chain.Charge || e.Seq != row.Seq || chain.Sum(row.Body) != toHash(row.Hash) {
		return nil, l.tampered(row.Seq, "it is not the charge that the index has there")
	}
	return e, nil
}
