package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger/chain"
)

// ErrReceipt marks a receipt that does not entitle its holder to a run: it was
// never issued, it was used before, or it was issued for another event.
var ErrReceipt = errors.New("invalid receipt")

// Receipt entitles its holder to exactly one private run of one event. It cannot
// be forged: its fields are hidden, its zero value is refused, and only this
// package issues one.
type Receipt struct {
	issued    bool
	charged   bool
	adjacency dp.Adjacency
	event     []byte // canonical JSON
	stamp     Stamp
	used      *atomic.Bool // shared by copies: they are one receipt
}

// None issues a receipt for a run that no ledger is charged for. The release it
// leads to is marked as uncharged: nobody but its reader adds up what was spent.
func None() *Receipt { return &Receipt{issued: true, used: new(atomic.Bool)} }

// newReceipt issues the receipt of a charge that was just committed.
func newReceipt(adj dp.Adjacency, event []byte, stamp Stamp) *Receipt {
	return &Receipt{issued: true, charged: true, adjacency: adj, event: event, stamp: stamp, used: new(atomic.Bool)}
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

// Redeem uses the receipt up for a run of the event. The run that redeemed it
// may draw its noise; any later call, any call on a receipt that was not issued,
// and a call for another event or adjacency than was charged, is ErrReceipt. A
// receipt of [None] is bound to no event.
func (r *Receipt) Redeem(adj dp.Adjacency, event dp.Event) error {
	if r == nil || !r.issued {
		return fmt.Errorf("%w: it was not issued by a ledger; use ledger.None() to run uncharged", ErrReceipt)
	}
	if r.charged {
		if err := r.bound(adj, event); err != nil {
			return err
		}
	}
	if !r.used.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: it was used before; every run needs a charge of its own", ErrReceipt)
	}
	return nil
}

// bound checks that the event that is run is the one that was charged.
func (r *Receipt) bound(adj dp.Adjacency, event dp.Event) error {
	text, err := eventText(event)
	if err != nil {
		return fmt.Errorf("%w: entry %d was charged for an event, and the run names none that is valid: %w", ErrReceipt, r.stamp.Seq, err)
	}
	if adj != r.adjacency || !bytes.Equal(text, r.event) {
		return fmt.Errorf("%w: entry %d was charged for another event or adjacency; charge what is run", ErrReceipt, r.stamp.Seq)
	}
	return nil
}

// Stamp ties a release to the entry that paid for it. A release carries it in its
// field "ledger", as JSON.
type Stamp struct {
	// Ledger is the random identity of the ledger, and Dataset its dataset.
	Ledger  string `json:"ledger"`
	Dataset string `json:"dataset"`
	// Seq and Entry are the number and the hash of the charge.
	Seq   int64      `json:"seq"`
	Entry chain.Hash `json:"entry"`
	// Head is the last entry of the chain when the charge was committed.
	Head chain.Head `json:"head"`
}
