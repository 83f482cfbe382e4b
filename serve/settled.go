package serve

import (
	"context"
	"errors"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// settled says how an ask ended that was charged before, whatever its question would be
// read as now: with the release that the ledger has, or pending. ok is false where its key
// was never charged.
func settled(ctx context.Context, l *ledger.Ledger, key string) (o asks.Outcome, ok bool, err error) {
	entry, err := l.ChargeOf(ctx, key)
	if entry == nil || err != nil {
		return asks.Outcome{}, false, err
	}
	err = l.Fits(ctx, *entry.Charge)
	var recorded *ledger.RecordedError
	switch {
	case errors.As(err, &recorded):
		return asks.Outcome{State: asks.Released, Release: recorded.Release}, true, nil
	case errors.Is(err, ledger.ErrPending):
		return asks.Outcome{State: asks.Pending, Reason: toldPending, Notices: []string{err.Error()}}, true, nil
	case err == nil:
		err = errors.New("a key that is charged is not known as one; run discreet ledger verify")
	}
	return asks.Outcome{}, false, err
}
