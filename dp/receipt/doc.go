// Package receipt proves that a private run has been paid for. A run that draws noise
// requires a [Receipt] and redeems it. Package ledger issues one for a durable
// charge, and [None] issues one that marks the release as uncharged. There
// is no other way to make a valid one.
//
//	func (r *Ready) Run(ctx context.Context, paid *receipt.Receipt, src *noise.Source) (*Release, error) {
//		if err := paid.Redeem(adjacency, event); err != nil {
//			return nil, err
//		}
//		// ... draw the noise of the event, once ...
//		release.Ledger = paid.Stamp()
//	}
//
// A receipt is valid for one run, with the event and adjacency that were
// charged; copies of it count as one receipt. The [Stamp] names the entry that paid. A
// release contains it, so that it can be checked against the ledger.
//
// The package links no ledger and no database: private computations need only this one.
package receipt
