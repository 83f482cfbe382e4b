package ledger

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// ErrReceipt marks a receipt that does not entitle its holder to a run: it was
// never issued, or it was used before.
var ErrReceipt = errors.New("invalid receipt")

// Receipt entitles its holder to exactly one private run. It cannot be forged:
// its fields are hidden, its zero value is refused, and only this package
// issues one.
type Receipt struct {
	issued  bool
	charged bool
	used    atomic.Bool
}

// None issues a receipt for a run that no ledger is charged for. The release it
// leads to is marked as uncharged: nobody but its reader adds up what was spent.
func None() *Receipt { return &Receipt{issued: true} }

// Charged reports whether a ledger committed the event before the run.
func (r *Receipt) Charged() bool { return r != nil && r.charged }

// Redeem uses the receipt up. The run that redeemed it may draw its noise; any
// later call, and any call on a receipt that was not issued, is ErrReceipt.
func (r *Receipt) Redeem() error {
	if r == nil || !r.issued {
		return fmt.Errorf("%w: it was not issued by a ledger; use ledger.None() to run uncharged", ErrReceipt)
	}
	if !r.used.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: it was used before; every run needs a charge of its own", ErrReceipt)
	}
	return nil
}
