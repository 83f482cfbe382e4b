// Package scalar estimates the value of a policy, one number with an interval,
// from plain numbers: public facts ([facts.Public]), noise multipliers that were
// fixed beforehand ([Stages]) and what every person adds. It knows no plan and
// no budget; whoever calls it has accounted for the multipliers.
//
// Start with [Mean] (on-policy), [Bounds] (DP-IS, DP-PDIS and DP-WIS off-policy) or
// [DR] (DP-DR). Unit: a person. Proofs: docs/proofs/moments.md,
// docs/proofs/overlap.md, docs/proofs/confounding.md, docs/proofs/dp-dr.md.
package scalar
