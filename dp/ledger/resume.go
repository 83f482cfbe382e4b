package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/internal/issue"
	"github.com/discreet-rl/discreet/dp/receipt"
)

// Resume hands out the receipt of a charge that is committed and has no release once
// more. It is for a run that made every draw durable before it used it, and that goes on
// from these draws after it was killed: a run that draws anew for what was drawn before
// would give two answers for one charge, so that the receipt is good for no other run
// ([receipt.Receipt.Continue]). The ledger holds no draw, and by [Rounds] the hash of each:
// a run that adds its draws there cannot go on from an older or another record of them.
// The charge must ask what was asked then. Without such a charge the error is ErrCharge;
// where the release was recorded it is the [RecordedError].
func (l *Ledger) Resume(ctx context.Context, c Charge) (*receipt.Receipt, error) {
	err := l.Fits(ctx, c)
	if err == nil {
		return nil, fmt.Errorf("%w: key %q was never charged, and there is nothing to go on with", ErrCharge, c.Key)
	}
	if !errors.Is(err, ErrPending) {
		return nil, err
	}
	n, err := l.ChargeOf(ctx, c.Key)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, fmt.Errorf("%w: key %q was charged and is gone; run discreet ledger verify", ErrTampered, c.Key)
	}
	event, err := dp.MarshalEvent(n.Charge.Event)
	if err != nil {
		return nil, err
	}
	return receipt.IssueAgain(issue.New(), n.Charge.Adjacency, event, receipt.Stamp{
		Ledger: l.open.Ledger, Dataset: l.open.Dataset, Seq: n.Seq, Entry: n.Hash, Head: receipt.Head{Seq: n.Seq, Hash: n.Hash},
	}), nil
}
