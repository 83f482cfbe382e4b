// Package fqe makes a model of what follows a decision from noisy sums, and values of
// the target policy from the model, by backward induction: the direct method (fitted-Q
// evaluation). It works on public facts, on noise multipliers that were fixed
// beforehand and on a sample; whoever calls it has accounted for the multipliers.
//
// Start with [Table] (numbered states). Unit: a person. Proof: docs/proofs/fqe.md.
package fqe
