// Package meter measures charges against a budget that may be raised and shared.
//
// A [account.Filter] keeps one budget for the life of one process. A ledger
// outlives its processes, its budget may be raised, and every analyst may have a
// share, so what an event costs ([Meter.Cost]) is kept apart from what a budget
// admits ([Meter.Limits]). Both come from package account, rounded to the safe
// side; this package only adds them up, rounding up, and compares.
//
// Start with [New]. Units: epsilons are natural logarithms; the sum of the
// Gaussian rule is mu squared, that of the Renyi rule a divergence; both contain
// the adjacency, which is fixed with the meter. The theorems are those of
// [account.Filter]; docs/proofs/ledger.md says why they hold for a ledger.
package meter
