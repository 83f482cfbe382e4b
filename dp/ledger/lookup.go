package ledger

import (
	"context"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
)

// ChargeOf returns the charge of a key with its place in the chain, nil if there is
// none. It asks the index by which a key is charged once, so that its cost does not grow
// with the ledger; [Ledger.Verify] holds that index against the chain.
func (l *Ledger) ChargeOf(ctx context.Context, key string) (charge *Entry, err error) {
	err = l.view(ctx, func(tx *store.Tx) error {
		at, found, err := tx.Charge(key)
		if err != nil || !found {
			return err
		}
		row, err := tx.Entry(at.Seq)
		if err != nil {
			return err
		}
		e, err := l.chargeIn(row)
		if err == nil && e.Charge.Key != key {
			err = l.tampered(at.Seq, "it is not the charge of its key")
		}
		if err != nil {
			return store.Abort(err)
		}
		entry := numbered{Entry: e, hash: toHash(row.Hash), line: row.Body}.public()
		charge = &entry
		return nil
	})
	return charge, err
}
