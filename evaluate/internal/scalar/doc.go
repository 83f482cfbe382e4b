// Package scalar estimates the value of a policy, one number with an interval,
// from plain numbers: public facts ([facts.Public]), noise multipliers that were
// fixed beforehand ([Stages]) and what every person adds. It knows no plan and
// no budget; whoever calls it has accounted for the multipliers.
//
// Start with [Mean] (DP-IS, DP-PDIS), [WIS] (DP-WIS) or [DR] (DP-DR). Unit: a
// person. Proofs: docs/proofs/moments.md, docs/proofs/ratio.md,
// docs/proofs/dp-dr.md.
package scalar
