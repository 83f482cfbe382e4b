// Package refine estimates a value function in a few noisy rounds, each of which
// asks only for what the rounds before got wrong. It works on public facts, on
// noise multipliers that were fixed beforehand and on a sample; whoever calls it
// has accounted for the multipliers.
//
// Start with [ByState] (first-visit residuals by numbered state) or [NewLinear]
// (any features of bounded norm, with a matrix). Unit: a person. Proof:
// docs/proofs/dp-refine.md.
package refine
