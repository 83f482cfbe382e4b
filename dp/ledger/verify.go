package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// Verify recomputes the chain of hashes, what every charge costs, all totals, the
// budget and the shares, and holds the recorded releases and what is kept beside
// the chain against it. A contradiction is a [TamperError], which names the
// entry. At last the witnesses are asked ([ErrWitness]). Charges go on meanwhile.
func (l *Ledger) Verify(ctx context.Context) error {
	if err := l.store.Check(ctx); err != nil {
		return err
	}
	r := newReplay(l.open.Dataset, l.key)
	// Most entries without a lock; what came meanwhile, and the rest, on one state.
	for {
		var page []store.Row
		err := l.store.View(ctx, l.open.Dataset, func(tx *store.Tx) (err error) {
			page, err = tx.Page(r.next(), pageSize)
			return err
		})
		if err != nil {
			return err
		}
		if err := r.applyAll(page); err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
	}
	if err := l.store.View(ctx, l.open.Dataset, r.finish); err != nil {
		return err
	}
	_, err := l.Witnesses(ctx)
	return err
}

func (r *replay) applyAll(rows []store.Row) error {
	for _, row := range rows {
		if err := r.apply(row.Seq, row.Hash, row.Body); err != nil {
			return err
		}
	}
	return nil
}

// finish applies the last entries and checks what is kept beside the chain.
func (r *replay) finish(tx *store.Tx) error {
	for {
		page, err := tx.Page(r.next(), pageSize)
		if err != nil {
			return err
		}
		if err := r.applyAll(page); err != nil {
			return store.Abort(err)
		}
		if len(page) == 0 {
			break
		}
	}
	for _, check := range []func(*store.Tx) error{r.checkHead, r.checkCharges, r.checkAnalysts, r.checkSightings} {
		if err := check(tx); err != nil {
			if asTampered(err) != nil {
				return store.Abort(err)
			}
			return err
		}
	}
	return nil
}

func (r *replay) checkHead(tx *store.Tx) error {
	seq, hash := tx.Head()
	switch {
	case r.head == nil || seq > r.head.Seq:
		return r.tampered(r.next(), "it is missing; the ledger goes up to entry %d", seq)
	case seq < r.head.Seq:
		return r.tampered(seq+1, "it was appended to the table and not by a ledger")
	case toHash(hash) != r.head.Hash:
		return r.tampered(seq, "it is not the head that the ledger wrote last")
	}
	return nil
}

// checkCharges holds the index of keys and the recorded releases against the
// chain.
func (r *replay) checkCharges(tx *store.Tx) error {
	n, after := 0, int64(0)
	for {
		page, err := tx.Charges(after, pageSize, false)
		if err != nil {
			return err
		}
		for _, row := range page {
			c, ok := r.charges[row.Seq]
			if !ok || c.key != row.Key || c.recorded != row.Recorded {
				return r.tampered(row.Seq, "the index has another key, or another record, for it than the chain")
			}
			if err := r.checkRelease(tx, row.Seq, c); err != nil {
				return err
			}
			n, after = n+1, row.Seq
		}
		if len(page) < pageSize {
			break
		}
	}
	if n != len(r.charges) {
		return r.tampered(-1, "the index holds %d charges and the chain %d", n, len(r.charges))
	}
	return nil
}

func (r *replay) checkRelease(tx *store.Tx, seq int64, c *replayed) error {
	release, err := tx.Release(seq)
	switch {
	case errors.Is(err, sql.ErrNoRows) && c.recorded == 0:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return r.tampered(seq, "its release is missing; entry %d recorded it", c.recorded)
	case err != nil:
		return err
	case c.recorded == 0:
		return r.tampered(seq, "it has a release that no entry recorded")
	case chain.SumRelease(release) != c.release:
		return r.tampered(seq, "its release is not the one that entry %d recorded", c.recorded)
	}
	return nil
}

func (r *replay) checkAnalysts(tx *store.Tx) error {
	names, err := tx.Analysts()
	if err != nil {
		return err
	}
	if want := slices.Sorted(maps.Keys(r.analysts)); !slices.Equal(names, want) {
		return r.tampered(-1, "sums are kept of %d analysts and the chain has %d", len(names), len(want))
	}
	for _, name := range names {
		body, err := tx.Analyst(name)
		if err != nil {
			return err
		}
		var a analyst
		if json.Unmarshal(body, &a) != nil || !reflect.DeepEqual(a, r.analysts[name]) {
			return r.tampered(-1, "the sums kept of analyst %q are not those of the chain", name)
		}
	}
	return nil
}

func (r *replay) checkSightings(tx *store.Tx) error {
	got, err := tx.FingerprintsSeen()
	if err != nil {
		return err
	}
	if !slices.Equal(got, slices.Sorted(maps.Keys(r.seen))) {
		return r.tampered(-1, "the fingerprints kept are not those of the chain")
	}
	return nil
}

// VerifyHead checks that the ledger still holds an entry that was its head at
// some time, as noted from [Summary], an export or a release. A ledger that does
// not reach it, or was restored from a backup without it, is [ErrBehind], and one
// that has another entry there [ErrTampered].
func (l *Ledger) VerifyHead(ctx context.Context, head chain.Head) error {
	return l.view(ctx, func(tx *store.Tx) error { return l.verifyHead(tx, head) })
}

func (l *Ledger) verifyHead(tx *store.Tx, head chain.Head) error {
	if seq, _ := tx.Head(); head.Seq > seq {
		return store.Abort(fmt.Errorf("%w: it ends at entry %d and entry %d is known to have existed: it was cut short or restored from an older backup, and what was charged after is not counted", ErrBehind, seq, head.Seq))
	}
	row, err := tx.Entry(head.Seq)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Abort(l.tampered(head.Seq, "it is missing"))
	} else if err != nil {
		return err
	}
	if chain.Sum(row.Body) != head.Hash {
		if e, err := chain.Parse(row.Body); err == nil && e.Totals.Restores > 0 {
			return store.Abort(fmt.Errorf("%w: it was restored from a backup, and its entry %d is not the one that is known to have existed: that was charged after the backup, or on another copy of the ledger", ErrBehind, head.Seq))
		}
		return store.Abort(l.tampered(head.Seq, "it is another one than was the head once: the chain was rewritten, or continued after an older backup"))
	}
	return nil
}

// VerifyRelease holds a release, as it was shown, against the ledger: the entry
// that it names paid for it, and its bytes are those that were recorded. The
// release is JSON whose field "ledger" is a [receipt.Stamp].
//
// What a release of package evaluate states of its charge is held against the
// entry: event, adjacency and unit; key, analyst, purpose, time and rule; and the
// budget and what was spent of it, which are those of the time between the charge
// and the record. Another form is held to what it states under the same names. A
// difference is [ErrRelease]. How the release splits the budget into shares, and
// whether the event meets the epsilon that is promised, is not looked at here.
func (l *Ledger) VerifyRelease(ctx context.Context, release []byte) error {
	stamp, err := StampOf(release)
	if err != nil {
		return err
	}
	if stamp.Ledger != l.open.Ledger || stamp.Dataset != l.open.Dataset {
		return fmt.Errorf("%w: the release names ledger %s of dataset %q and this is %s of %q; verify it against its own", ErrTampered, stamp.Ledger, stamp.Dataset, l.open.Ledger, l.open.Dataset)
	}
	return l.view(ctx, func(tx *store.Tx) error {
		if err := l.verifyHead(tx, stamp.Head); err != nil {
			return err
		}
		if err := l.verifyHead(tx, chain.Head{Seq: stamp.Seq, Hash: stamp.Entry}); err != nil {
			return err
		}
		if stamp.Head.Seq < stamp.Seq {
			return store.Abort(fmt.Errorf("%w: it names entry %d of a chain that, as it says, ended at entry %d", ErrRelease, stamp.Seq, stamp.Head.Seq))
		}
		charge, found, err := tx.ChargeAt(stamp.Seq)
		if err != nil {
			return err
		}
		if !found {
			return store.Abort(l.tampered(stamp.Seq, "the release names it and it is no charge"))
		}
		if charge.Recorded == 0 {
			return l.pendingRelease(tx, stamp.Seq)
		}
		if err := l.verifyRecord(tx, charge, release); err != nil {
			return err
		}
		return l.verifyClaims(tx, charge, release)
	})
}

// pendingRelease says what it means that a release is of a pending charge.
func (l *Ledger) pendingRelease(tx *store.Tx, seq int64) error {
	row, err := tx.Entry(seq)
	if err != nil {
		return err
	}
	paid, err := l.chargeIn(row)
	if err != nil {
		return store.Abort(err)
	}
	last, err := l.lastEntry(tx)
	if err != nil {
		return err
	}
	if last.Totals.Restores > paid.Totals.Restores {
		return store.Abort(fmt.Errorf("%w: entry %d is pending in the backup that it was restored from: the record of its release may have been lost, and these bytes cannot be held against it; give such releases to the restore", ErrBehind, seq))
	}
	return store.Abort(fmt.Errorf("%w: entry %d is pending: no release of it was recorded, so this one did not come about by the protocol", ErrTampered, seq))
}

// verifyClaims holds what the recorded release says of its charge against it.
func (l *Ledger) verifyClaims(tx *store.Tx, charge store.ChargeRow, release []byte) error {
	stated, err := claimsOf(release)
	if err != nil {
		return store.Abort(err)
	}
	row, err := tx.Entry(charge.Seq)
	if err != nil {
		return err
	}
	paid, err := l.chargeIn(row)
	if err == nil {
		err = stated.verify(paid, l.open)
	}
	if err != nil {
		return store.Abort(err)
	}
	return l.verifySpent(tx, stated, charge)
}

func (l *Ledger) verifyRecord(tx *store.Tx, charge store.ChargeRow, release []byte) error {
	row, err := tx.Entry(charge.Recorded)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Abort(l.tampered(charge.Recorded, "it is missing; it recorded the release of entry %d", charge.Seq))
	} else if err != nil {
		return err
	}
	e, err := chain.Parse(row.Body)
	if err != nil || e.Kind != chain.Record || e.Record.Charge != charge.Seq || chain.Sum(row.Body) != toHash(row.Hash) {
		return store.Abort(l.tampered(charge.Recorded, "it does not record the release of entry %d", charge.Seq))
	}
	if e.Record.Release != chain.SumRelease(release) {
		return store.Abort(l.tampered(charge.Recorded, "it recorded other bytes than these: the release was changed"))
	}
	return nil
}

// StampOf reads the stamp of a release. A release that no ledger was charged for
// has none, and is [ErrCharge].
func StampOf(release []byte) (*receipt.Stamp, error) {
	var r struct {
		Ledger *receipt.Stamp `json:"ledger"`
	}
	if err := json.Unmarshal(release, &r); err != nil {
		return nil, fmt.Errorf("%w: the release is no JSON of a release: %w", ErrCharge, err)
	}
	if r.Ledger == nil || r.Ledger.Ledger == "" {
		return nil, fmt.Errorf("%w: the release names no entry of a ledger: none was charged for it", ErrCharge)
	}
	return r.Ledger, nil
}
