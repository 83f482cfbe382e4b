package ledger

import (
	"context"

	"github.com/discreet-rl/discreet/dp/receipt"
)

// RecordUnchecked records as a program would that does not look at what the
// release says.
func RecordUnchecked(ctx context.Context, l *Ledger, r *receipt.Receipt, release []byte) error {
	return l.update(ctx, func(w *writer) error { return l.record(w, *r.Stamp(), release, nil) })
}
