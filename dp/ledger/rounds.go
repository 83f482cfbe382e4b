package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// Rounds are the noisy sums that a charge's run has drawn, one a round, as the ledger
// knows them: by their hashes, in its chain. A run that makes its draws durable elsewhere,
// and may go on from them after it was killed ([Ledger.Resume]), adds each before it uses
// it. Where its own record of them is then an older one, or there are two copies of it, a
// second draw for a round is refused, and no run can go on that lacks one.
//
// A Rounds must not be used by two goroutines at a time.
type Rounds struct {
	ledger *Ledger
	stamp  receipt.Stamp
	sums   []chain.Hash
	next   int64 // the first entry that was not looked at
}

// Rounds reads what the ledger knows of the rounds of a receipt's charge. Where it knows
// of any, witnesses are asked and updated with the head again: a run killed after such an
// entry was committed and before they were updated continues from a sum that they must know.
func (l *Ledger) Rounds(ctx context.Context, r *receipt.Receipt) (*Rounds, error) {
	switch {
	case !r.Charged():
		return nil, fmt.Errorf("%w: nothing was charged, so there is nothing that rounds can be of", receipt.ErrInvalid)
	case r.Stamp().Ledger != l.open.Ledger:
		return nil, fmt.Errorf("%w: it is another ledger's, of dataset %q", receipt.ErrInvalid, r.Stamp().Dataset)
	}
	x := &Rounds{ledger: l, stamp: *r.Stamp(), next: r.Stamp().Seq + 1}
	err := l.view(ctx, func(tx *store.Tx) error {
		if _, _, err := paidBy(tx, x.stamp); err != nil {
			return err
		}
		return x.read(tx)
	})
	if err != nil || len(x.sums) == 0 {
		return x, err
	}
	behind, err := l.extend(ctx, func(*writer) error { return nil })
	return x, errors.Join(err, behind)
}

// Len is how many rounds the ledger was known to have.
func (r *Rounds) Len() int { return len(r.sums) }

// Add makes durable that a round, counted from 1, has drawn the sum of the hash. To add
// the same again is no error. Another sum for a round, and a round after a gap, is
// ErrRound; any round is ErrRecorded once the release is recorded. On any error the sum
// must not be used.
func (r *Rounds) Add(ctx context.Context, number int, sum chain.Hash) error {
	if known, err := r.known(number, sum); known || err != nil {
		return err
	}
	var next int64 // 0 where none is added
	behind, err := r.ledger.extend(ctx, func(w *writer) error {
		next = 0
		charge, _, err := paidBy(w.tx, r.stamp)
		if err != nil {
			return err
		}
		if charge.Recorded != 0 {
			return store.Abort(fmt.Errorf("%w: of entry %d, and its run has ended", ErrRecorded, r.stamp.Seq))
		}
		if err := r.read(w.tx); err != nil {
			return err
		}
		known, err := r.known(number, sum)
		switch {
		case err != nil:
			return store.Abort(err)
		case known:
			return nil
		}
		if number != len(r.sums)+1 {
			return store.Abort(fmt.Errorf("%w: round %d of entry %d, of which the ledger has %d", ErrRound, number, r.stamp.Seq, len(r.sums)))
		}
		added, err := w.append(&chain.Entry{Kind: chain.Round, Totals: w.last.Totals, Round: &chain.RoundBody{
			Charge: r.stamp.Seq, Number: int64(number), Sum: sum,
		}})
		if err != nil {
			return err
		}
		next = added.Seq + 1
		return nil
	})
	if err != nil {
		return err
	}
	if next != 0 { // nothing of this charge stands between what was read and this
		r.sums, r.next = append(r.sums, sum), next
	}
	return behind
}

// known tells whether a round is there with that sum.
func (r *Rounds) known(number int, sum chain.Hash) (bool, error) {
	if number < 1 || number > len(r.sums) {
		return false, nil
	}
	if r.sums[number-1] != sum {
		return true, fmt.Errorf("%w: round %d of entry %d has drawn another sum: another run goes on with this charge, or this one was put back to an earlier state; charge a new key", ErrRound, number, r.stamp.Seq)
	}
	return true, nil
}

// read takes the rounds from the entries that were not looked at.
func (r *Rounds) read(tx *store.Tx) error {
	for {
		page, err := tx.Page(r.next, pageSize)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		for _, row := range page {
			e, err := chain.Parse(row.Body)
			if err != nil || chain.Sum(row.Body) != toHash(row.Hash) || e.Seq != row.Seq {
				return store.Abort(r.ledger.tampered(row.Seq, "its bytes are not those of its hash"))
			}
			if b := e.Round; b != nil && b.Charge == r.stamp.Seq {
				if b.Number != int64(len(r.sums))+1 {
					return store.Abort(r.ledger.tampered(row.Seq, "it is of round %d of entry %d, after %d rounds", b.Number, b.Charge, len(r.sums)))
				}
				r.sums = append(r.sums, b.Sum)
			}
			r.next = row.Seq + 1
		}
	}
}
