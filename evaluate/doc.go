// Package evaluate estimates what a policy is worth from logged trajectories of
// people, under (epsilon, delta)-differential privacy with a trusted curator.
//
// # The path to a release
//
// There is one, in four steps, and the types allow no other:
//
//	plan, err := estimator.Plan(public)          // public facts only: event, epsilon, expected error
//	ready, err := plan.Check(ctx, data)          // validates; errors are for the curator, nothing is spent
//	paid := receipt.None()                       // or the receipt of a charge that a ledger committed
//	release, err := ready.Run(ctx, paid, src)    // draws the noise
//
// [Plan] has never seen data; [Ready] exists only for data that passed the
// check; Run needs a receipt and uses it up. [New] makes an [Estimator] by the
// name that configurations use, and [Methods] lists them all.
//
// # Methods of one's own
//
// [OfSums] makes an estimator of anybody's method that is a sequence of clipped sums
// over persons ([Sums]): its author says what one person adds and what is made of the
// noisy sums, and clips, noise, accounting, receipt and release are the library's.
//
// # Unit, adjacency, bounds
//
// The unit of privacy is a person, who may own many trajectories, unless
// [Privacy] says that it is a single trajectory or row; a person's
// contribution is the mean over their trajectories, so persons count equally.
// [Public] holds everything that is known without the data. Contributions are
// clipped to ranges derived from it inside the mechanism that adds the noise.
//
// Errors, intervals and diagnostics of a private release are computed from
// public facts or from statistics that were paid for; nothing else leaves.
package evaluate
