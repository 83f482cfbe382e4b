// Package audit bounds the privacy of a mechanism from below, by samples of what it
// released on two neighbouring datasets:
//
//	samples := audit.Draw(20000, func(world int) []float64 { ... }) // or ReadSamples
//	found, err := samples.Bound(audit.Options{Delta: 1e-5})
//	claim, err := audit.NewClaim(event, dp.ReplaceOne, 1e-5)
//	err = claim.Hold(found)
//
// An accountant bounds from above what a mechanism shows, if it does what its event
// says. A bound from below that passes the event's shows that it does not. One that
// stays under it shows nothing: the two datasets may not have been the worst, nor the
// test the best. detects says beforehand what a number of runs can find.
//
// # How
//
// A test tells the two worlds apart by a number that it computes of what was
// released: it answers where that number is beyond a threshold. Of a mechanism
// with the trade-off function f no test answers in one world with a probability of
// q and in the other with more than 1-f(q) (Wasserman and Zhou 2010; Kairouz, Oh,
// Viswanath 2015; Dong, Roth, Su 2022): at (epsilon, delta) no more than
// e^epsilon q + delta, at mu-Gaussian privacy no more than Phi(mu + Phi^-1(q)).
//
// A part of the samples, drawn without looking at their values, chooses number and
// threshold: a column, a linear or a quadratic discriminant, or how often values
// were seen; one half of that part fits them and the other compares. The rest counts how often the test answers, and the two
// probabilities are bounded by Clopper and Pearson's (1934) limits, which hold
// for every number of runs. So the bound is wrong with a probability of at most
// [Options].FalseAlarm, whatever the mechanism, the columns and the choice: nothing
// is fitted on the samples that count. Two thresholds are taken, one for mu and one
// for epsilon at delta, at half of the false-alarm rate each.
//
// Samples must be independent runs of the same mechanism on the same two datasets.
// Numbers are float64; epsilon is a natural logarithm, and adjacency that of the
// two datasets.
package audit
