package receipt

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/internal/issue"
)

// ErrInvalid marks a receipt that does not entitle its holder to a run: it was
// never issued, it was used before, or it was issued for another event.
var ErrInvalid = errors.New("invalid receipt")

// Receipt entitles its holder to exactly one private run of one event. It cannot
// be forged: its fields are hidden, its zero value is refused, and only a ledger
// issues one for a charge.
type Receipt struct {
	issued    bool
	charged   bool
	resumed   bool
	adjacency dp.Adjacency
	event     []byte // canonical JSON
	stamp     Stamp
	used      *atomic.Bool // shared by copies: they are one receipt
}

// None issues a receipt for a run that no ledger is charged for. The release it
// leads to is marked as uncharged: nobody but its reader adds up what was spent.
func None() *Receipt { return &Receipt{issued: true, used: new(atomic.Bool)} }

// Issue issues the receipt of a charge that was just committed, of an event in its
// canonical JSON. It takes a seal, which only package ledger can make; without one
// it panics.
func Issue(seal issue.Seal, adj dp.Adjacency, event []byte, stamp Stamp) *Receipt {
	if !seal.Valid() {
		panic("receipt: Issue: no seal; a receipt comes from a ledger's charge, or from None")
	}
	return &Receipt{issued: true, charged: true, adjacency: adj, event: event, stamp: stamp, used: new(atomic.Bool)}
}

// IssueAgain is [Issue] for a charge whose run was killed. What it issues is good for a
// run that goes on from draws that were kept, by [Receipt.Continue], and for no other.
func IssueAgain(seal issue.Seal, adj dp.Adjacency, event []byte, stamp Stamp) *Receipt {
	r := Issue(seal, adj, event, stamp)
	r.resumed = true
	return r
}

// Charged reports whether a ledger committed the event before the run.
func (r *Receipt) Charged() bool { return r != nil && r.charged }

// Stamp is what a release carries of its charge; nil where nothing was charged.
func (r *Receipt) Stamp() *Stamp {
	if !r.Charged() {
		return nil
	}
	stamp := r.stamp
	return &stamp
}

// Redeemed reports whether a run used the receipt up.
func (r *Receipt) Redeemed() bool { return r != nil && r.issued && r.used.Load() }

// Redeem uses the receipt up for a run of the event. The run that redeemed it
// may draw its noise; any later call, any call on a receipt that was not issued,
// and a call for another event or adjacency than was charged, is ErrInvalid. A
// receipt of [None] is bound to no event. A receipt that was issued again is refused: its
// charge may have been drawn for.
func (r *Receipt) Redeem(adj dp.Adjacency, event dp.Event) error {
	if r != nil && r.resumed {
		return fmt.Errorf("%w: entry %d is of a run that was killed and may have drawn; only a run that goes on from what was drawn can use it", ErrInvalid, r.stamp.Seq)
	}
	return r.Continue(adj, event)
}

// Continue is [Receipt.Redeem] for a run that keeps every draw before it uses it, and
// that takes a draw that was kept in place of another.
func (r *Receipt) Continue(adj dp.Adjacency, event dp.Event) error {
	if r == nil || !r.issued {
		return fmt.Errorf("%w: it was not issued by a ledger; use receipt.None() to run uncharged", ErrInvalid)
	}
	if r.charged {
		if err := r.bound(adj, event); err != nil {
			return err
		}
	}
	if !r.used.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: it was used before; every run needs a charge of its own", ErrInvalid)
	}
	return nil
}

// bound checks that the event that is run is the one that was charged.
func (r *Receipt) bound(adj dp.Adjacency, event dp.Event) error {
	text, err := issue.EventText(event)
	if err != nil {
		return fmt.Errorf("%w: entry %d was charged for an event, and the run names none that is valid: %w", ErrInvalid, r.stamp.Seq, err)
	}
	if adj != r.adjacency || !bytes.Equal(text, r.event) {
		return fmt.Errorf("%w: entry %d was charged for another event or adjacency; charge what is run", ErrInvalid, r.stamp.Seq)
	}
	return nil
}
