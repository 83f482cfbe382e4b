// Package receipt is what a private run needs to have paid. A run that draws noise
// asks for a [Receipt] and redeems it; package ledger hands one out for a charge
// that is durable, and [None] gives one that marks the release as uncharged. There
// is no other way to make one that is valid.
//
//	func (r *Ready) Run(ctx context.Context, paid *receipt.Receipt, src *noise.Source) (*Release, error) {
//		if err := paid.Redeem(adjacency, event); err != nil {
//			return nil, err
//		}
//		// ... draw the noise of the event, once ...
//		release.Ledger = paid.Stamp()
//	}
//
// A receipt is good for one run, of the event and under the adjacency that were
// charged; copies of it are one receipt. The [Stamp] names the entry that paid: a
// release carries it, so that the ledger can be held to it.
//
// The package knows no ledger and no database: what computes needs this one alone.
package receipt
