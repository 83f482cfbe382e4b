// Package ledger keeps the privacy budget of a dataset. A release is paid for
// before it is made: a private computation requires a
// [receipt.Receipt], and the ledger issues a receipt only for a durable charge.
//
// Start with [Create] for a new ledger or [Open] for one that exists; the
// location is the path of a SQLite file or a postgres:// URL.
//
//	l, err := ledger.Create(ctx, "budget.db", ledger.Config{
//		Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 2, Delta: 1e-6},
//	})
//	grant, err := l.Charge(ctx, ledger.Charge{Key: ledger.NewKey(), Analyst: "ann", Event: event, Adjacency: dp.ReplaceOne})
//	// ... run with grant.Receipt ...
//	err = l.Record(ctx, grant.Receipt, release) // before anybody sees it
//
// # Protocol
//
// Plan, check, charge, run, record, show. A crash before the charge costs
// nothing. A crash after it costs the charge and leaves it pending: it is never
// run again, because its noise may have been seen. Once a release is recorded, a
// retry with the same key returns the recorded bytes ([RecordedError]).
//
// # What is kept
//
// A dataset has one budget (epsilon, delta) per unit of privacy (a person), under
// one adjacency, shared by all analysts; an analyst may have a share below it
// ([Ledger.SetShare]), and once there is a share, analysts without one are refused.
// Charges may be chosen after seeing earlier releases, so the
// ledger uses a composition rule proven for adaptive choices, fixed at creation: basic
// composition, Gaussian differential privacy (the default), or Renyi at one
// order. Under the last two, a reserved part of the budget pays for events that the rule
// does not support ([Config].Filter). Sums are rounded up and limits down.
//
// Entries are append-only and hash-chained (package chain). [Ledger.Verify]
// recomputes the chain and the accounting and names the entry that is wrong;
// [Ledger.VerifyRelease] compares a release with the entry that paid for it.
//
// A contract ([Ledger.SetContract]) fixes how the data are read: charges name its
// version, and versions share the budget. Checks of the data are counted outside the
// chain before they begin ([Ledger.BeginCheck]), for the steward alone; the charge that
// pays for a check removes it from the count.
//
// # What it does not do
//
// A ledger protects only against programs that use it as intended. Whoever owns the store can
// rewrite all of it, or put an old copy in its place. A release or a head kept
// elsewhere proves that ([ErrBehind]), and a ledger with a witness then refuses charges
// ([Ledger.AddWitness]). Fingerprints and sketches detect the same data, or mostly
// the same ids, under another name in the same store.
//
// Sources: Rogers et al. 2016, Feldman and Zrnic 2021, Smith and Thakurta 2022,
// Koskela, Tobaben and Honkela 2023, Vadhan and Zhang 2023. The argument, and that
// for crashes, is in docs/proofs/ledger.md; measurements are in
// docs/results/ledger.md.
package ledger
