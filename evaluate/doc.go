// Package evaluate estimates what a policy is worth from logged trajectories of
// people, under (epsilon, delta)-differential privacy with a trusted curator.
//
// # The path to a release
//
// There is only one, in four steps, which the types enforce:
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
// # Your own methods
//
// [OfSums] makes an estimator from any method that is a sequence of clipped sums
// over persons ([Sums]). You define what one person adds and how the answer follows from the
// noisy sums; the library adds clipping, noise, accounting, receipt and release.
//
// # Unit, adjacency, bounds
//
// The unit of privacy is a person, who may own many trajectories, unless
// [Privacy] says that it is a single trajectory or row. A person's
// contribution is the mean over their trajectories, so persons count equally.
// [Public] holds everything that is known without the data. The mechanism that adds
// the noise clips contributions to ranges derived from it.
//
// Errors, intervals and diagnostics of a private release are computed only from
// public facts or from statistics that were paid for.
package evaluate
