// Package mechanism holds the central mechanisms: functions of a whole dataset,
// computed by a trusted curator, that add noise and return a value together
// with the [dp.Event] that describes what was done.
//
// Every mechanism is used in the same four steps. It is made from public facts
// alone (clip, dimension, noise, adjacency); each person is added once with
// Add; partial results of shards or workers are joined with Merge; and Release
// draws the noise, exactly once. Start with [VectorSum]. What programs outside this
// module use of it is package dp/mechanism.
//
// # Integers end to end
//
// A contribution is clipped, truncated onto a lattice whose step is a power of
// two, and summed in integers. The noise is an integer as well: a Gaussian draw
// rounded to the lattice, which is post-processing of the ideal mechanism. Only
// the final sum is turned into floats. So a sum does not depend on the order of
// persons, on how they were sharded, or on the number of workers, and there are
// no floating-point gaps in the noise. docs/proofs/lattice.md has the argument.
//
// # Sensitivity
//
// No mechanism takes a sensitivity as an argument: each enforces a clip and
// derives the sensitivity from it. A contribution that is not finite counts as
// the fixed centre of the clip set, so that a broken record cannot break the
// guarantee.
package mechanism
