// Package distribution turns noisy masses in bins of a return into limits of its distribution
// function that hold together, and these into quantiles and means of tails. A person's mass is
// the weight of a trajectory: what is missing of it can only lower a sum over bins, so that the
// mass up to a point is an estimate of the function from below, and 1 less the mass above it
// one from above. docs/proofs/distribution.md has the proof.
package distribution
