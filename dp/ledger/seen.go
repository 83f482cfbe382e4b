package ledger

import (
	"context"
	"errors"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// An open ledger is a witness of itself: what it has seen of the chain has to be there in
// every later transaction. So a store that is rolled back, cut short or replaced under a
// running process is neither charged nor shown.

// view runs f on one state of the ledger that holds all that was seen of it before.
func (l *Ledger) view(ctx context.Context, f func(*store.Tx) error) error {
	return l.seeing(ctx, l.store.View, f)
}

// locked runs f in a transaction under the write lock, on a state that holds all that was
// seen before.
func (l *Ledger) locked(ctx context.Context, f func(*store.Tx) error) error {
	return l.seeing(ctx, l.store.Update, f)
}

func (l *Ledger) seeing(ctx context.Context, run func(context.Context, string, func(*store.Tx) error) error, f func(*store.Tx) error) error {
	// It is taken before the transaction begins: what another one sees meanwhile may be newer
	// than the state of this one.
	seen := l.seen.Load()
	var found, left chain.Head
	err := run(ctx, l.open.Dataset, func(tx *store.Tx) error {
		found = headOf(tx)
		if seen != nil && *seen != found {
			if err := l.verifyHead(tx, *seen); err != nil {
				return err
			}
		}
		err := f(tx)
		left = headOf(tx)
		return err
	})
	switch {
	case err == nil:
		l.see(left)
	case !errors.Is(err, ErrBehind) && !errors.Is(err, ErrTampered):
		l.see(found)
	}
	return err
}

func headOf(tx *store.Tx) chain.Head {
	seq, hash := tx.Head()
	return chain.Head{Seq: seq, Hash: toHash(hash)}
}

// see remembers a head that was committed.
func (l *Ledger) see(head chain.Head) {
	if head == (chain.Head{}) {
		return // the transaction did not begin
	}
	for {
		seen := l.seen.Load()
		if seen != nil && seen.Seq >= head.Seq || l.seen.CompareAndSwap(seen, &head) {
			return
		}
	}
}
