package ledger

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// behind holds the releases that left against the backup, and keeps those that
// were recorded only after it.
func (b *backupData) behind(ctx context.Context, o RestoreOptions) error {
	for _, name := range o.Witnesses {
		if err := b.behindWitness(ctx, name, o); err != nil {
			return err
		}
	}
	for _, release := range o.Releases {
		stamp, err := StampOf(release)
		if err != nil {
			return err
		}
		if stamp.Ledger != b.replay.open.Ledger || stamp.Dataset != b.replay.open.Dataset {
			return fmt.Errorf("%w: a release is of ledger %s and the backup of %s", ErrBackup, stamp.Ledger, b.replay.open.Ledger)
		}
		if stamp.Seq < 0 || stamp.Head.Seq < stamp.Seq {
			return fmt.Errorf("%w: a release names entry %d of a chain that ended at entry %d", ErrTampered, stamp.Seq, stamp.Head.Seq)
		}
		if last := b.header.Head.Seq; stamp.Head.Seq > last {
			if o.LostNothing {
				return fmt.Errorf("%w: a release was paid for by entry %d, when the chain ended at entry %d, and the backup ends at entry %d: something was charged after it", ErrBehind, stamp.Seq, stamp.Head.Seq, last)
			}
			continue
		}
		if !b.holds(chain.Head{Seq: stamp.Seq, Hash: stamp.Entry}) || !b.holds(stamp.Head) {
			return fmt.Errorf("%w: a release names another entry %d than the backup holds, or another head", ErrTampered, stamp.Seq)
		}
		if err := b.recoverRelease(stamp.Seq, release, o); err != nil {
			return err
		}
	}
	return nil
}

// behindWitness holds a witness of the ledger against the backup.
func (b *backupData) behindWitness(ctx context.Context, name string, o RestoreOptions) error {
	place, err := witnessAt(name)
	if err != nil {
		return err
	}
	head, err := highest(ctx, place, b.replay.open.Ledger)
	last := b.header.Head.Seq
	switch {
	case err != nil:
		return fmt.Errorf("%w: witness %s: %w", ErrConfig, place, err)
	case head.Seq > last && o.LostNothing:
		return fmt.Errorf("%w: witness %s knows entry %d and the backup ends at entry %d: something was charged after it", ErrBehind, place, head.Seq, last)
	case head.Seq <= last && !b.holds(head):
		return fmt.Errorf("%w: witness %s knows another entry %d than the backup holds", ErrTampered, place, head.Seq)
	}
	return nil
}

func (b *backupData) holds(h chain.Head) bool { return toHash(b.rows[h.Seq].Hash) == h.Hash }

// recoverRelease keeps a release whose charge the backup holds. If it is pending there, its
// record was lost, and is made again: the release was shown, by the protocol, only
// after it was recorded.
func (b *backupData) recoverRelease(seq int64, release []byte, o RestoreOptions) error {
	c, ok := b.replay.charges[seq]
	switch {
	case !ok:
		return fmt.Errorf("%w: a release names entry %d, which is no charge", ErrTampered, seq)
	case c.recorded != 0 && chain.SumRelease(release) != c.release:
		return fmt.Errorf("%w: the backup holds another release of entry %d", ErrTampered, seq)
	case c.recorded != 0:
		return nil
	}
	if other, twice := b.recovered[seq]; twice && !bytes.Equal(other, release) {
		return fmt.Errorf("%w: two releases name entry %d", ErrTampered, seq)
	}
	stated, err := claimsOf(release)
	if err != nil {
		return err
	}
	paid, err := chain.Parse(b.rows[seq].Body)
	if err != nil {
		return err
	}
	if err := stated.verify(paid, b.replay.open); err != nil {
		return err
	}
	known, err := b.knew(stated, seq)
	switch {
	case err != nil:
		return err
	case known:
		b.recovered[seq] = bytes.Clone(release)
	case o.LostNothing:
		return fmt.Errorf("%w: a release of entry %d states a budget, or what was spent of it, as of no entry from there to entry %d, the last in the backup: something was charged after it", ErrBehind, seq, b.header.Head.Seq)
	}
	return nil
}

// knew reports that the budget and what was spent of it, as a release of a charge
// states them, stood at some time in the backup.
func (b *backupData) knew(stated *claims, seq int64) (bool, error) {
	budget, spent, err := stated.budgets(seq)
	if err != nil {
		return false, err
	}
	for _, row := range b.rows[seq:] {
		e, err := chain.Parse(row.Body)
		if err != nil {
			return false, err
		}
		if was, err := stood(e.Totals, budget, spent, b.replay.spent); was || err != nil {
			return was, err
		}
	}
	return false, nil
}

// spent is what charges of these totals are certain to meet.
func (r *replay) spent(t chain.Totals) (dp.Budget, error) {
	limits, err := r.limit(t.Budget, r.open.Reserve)
	if err != nil {
		return dp.Budget{}, err
	}
	return r.meter.Spent(t.Spent, limits)
}

// recordAdopted writes the records that were lost.
func (b *backupData) recordAdopted(w *writer) error {
	for _, seq := range slices.Sorted(maps.Keys(b.recovered)) {
		if err := w.record(seq, b.recovered[seq]); err != nil {
			return err
		}
	}
	return nil
}
