package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp/ledger/chain"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
)

// Record stores the release that a receipt's run led to. It is called before the
// release is shown to anybody: only a recorded release can be shown again. The
// receipt must have been redeemed. To record the same bytes again is no error;
// other bytes are [ErrRecorded].
func (l *Ledger) Record(ctx context.Context, r *Receipt, release []byte) error {
	switch {
	case !r.Charged():
		return fmt.Errorf("%w: nothing was charged, so there is nothing to record", ErrReceipt)
	case r.stamp.Ledger != l.open.Ledger:
		return fmt.Errorf("%w: it is another ledger's; record the release in dataset %q of its own", ErrReceipt, r.stamp.Dataset)
	case !r.used.Load():
		return fmt.Errorf("%w: it was not redeemed, so no run can have led to a release", ErrReceipt)
	}
	return l.update(ctx, func(w *writer) error {
		return l.record(w, r.stamp, release)
	})
}

func (l *Ledger) record(w *writer, stamp Stamp, release []byte) error {
	charge, found, err := w.tx.ChargeAt(stamp.Seq)
	if err != nil {
		return err
	}
	row, err := w.tx.Entry(stamp.Seq)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if !found || toHash(row.Hash) != stamp.Entry {
		return store.Abort(fmt.Errorf("%w: the ledger no longer holds the charge, entry %d; it was replaced by an older backup", ErrBehind, stamp.Seq))
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
	head, err := w.append(&chain.Entry{Kind: chain.Record, Totals: w.last.Totals, Record: &chain.RecordBody{
		Charge: stamp.Seq, Release: chain.SumRelease(release), Size: int64(len(release)),
	}})
	if err != nil {
		return err
	}
	return w.tx.AddRelease(stamp.Seq, head.Seq, release)
}
