// Package mechanism holds the central mechanisms: functions of a whole dataset,
// computed by a trusted curator, that add noise and return a value together
// with the [dp.Event] that describes what was done.
//
// Every mechanism is used in the same four steps. It is made from public facts
// alone (clip, dimension, noise, adjacency); each person is added once with
// Add; partial results of shards or workers are joined with Merge; and Release
// draws the noise, exactly once. Start with [VectorSum].
//
// No mechanism takes a sensitivity as an argument: each enforces a clip and
// derives the sensitivity from it. A contribution that is not finite counts as
// the fixed centre of the clip set, so that a broken record cannot break the
// guarantee. Contributions are put onto a lattice whose step is a power of two and
// summed as integers, and the noise is an integer as well, so that a sum depends
// neither on the order of persons nor on the shards they were in, and there are no
// floating-point gaps in the noise. docs/proofs/lattice.md has the argument.
package mechanism

import "github.com/discreet-rl/discreet/internal/dp/mechanism"

// Sentinel errors. Everything this package returns wraps one of them, or
// [dp.ErrAdjacency].
var (
	// ErrParameter marks a public parameter that is out of range.
	ErrParameter = mechanism.ErrParameter
	// ErrReleased marks a second release, or an addition after the release.
	ErrReleased = mechanism.ErrReleased
	// ErrCapacity marks more persons than the lattice was planned for.
	ErrCapacity = mechanism.ErrCapacity
	// ErrMismatch marks a merge of sums that were made differently.
	ErrMismatch = mechanism.ErrMismatch
)
