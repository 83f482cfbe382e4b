// Package audit computes empirical lower bounds on a mechanism's epsilon, from samples of
// what it released on two neighbouring datasets:
//
//	samples := audit.Draw(20000, func(world int) []float64 { ... }) // or ReadSamples
//	found, err := samples.Bound(audit.Options{Delta: 1e-5})
//	claim, err := audit.NewClaim(event, dp.ReplaceOne, 1e-5)
//	err = claim.Hold(found)
//
// An accountant gives an upper bound on what a mechanism reveals, if it does what its event
// says. A lower bound that exceeds it shows that the mechanism does not. A lower bound
// below it proves nothing: the two datasets may not have been the worst, nor the
// test the best.
//
// # How
//
// A world is one of the two datasets. A test computes a number from the
// output and rejects if it exceeds a threshold. For a mechanism
// with trade-off function f, no test that rejects in one world with probability
// q rejects in the other with more than 1-f(q) (Wasserman and Zhou 2010; Kairouz, Oh,
// Viswanath 2015; Dong, Roth, Su 2022): at (epsilon, delta) no more than
// e^epsilon q + delta, at mu-Gaussian privacy no more than Phi(mu + Phi^-1(q)).
//
// A part of the samples, drawn without looking at their values, chooses number and
// threshold: a column, a linear or a quadratic discriminant, or how often values
// were seen; one half of that part fits them and the other compares. The rest counts how often the test rejects, and the two
// probabilities are bounded by Clopper-Pearson limits (1934), which hold
// for every number of runs. So the bound is wrong with probability at most
// [Options].FalseAlarm, whatever the mechanism, the columns and the choice: nothing
// is fitted on the samples that count. Two thresholds are used, one for mu and one
// for epsilon at delta, each at half of the false-alarm rate.
//
// Samples must be independent runs of the same mechanism on the same two datasets.
// Numbers are float64; epsilon is a natural logarithm, and adjacency that of the
// two datasets.
package audit
