package dp

import "math/bits"

// TreeAggregation releases running sums of a stream by binary trees (Dwork, Naor, Pitassi,
// Rothblum 2010; Chan, Shi, Song 2011), as DP-FTRL does. In each of Steps steps a clipped
// sum over persons arrives; every complete node of the tree over the steps, the sum of the steps
// below it, is released once with Gaussian noise of standard deviation NoiseMultiplier
// times the clip norm of one person in one step. After Steps steps a new tree begins,
// Restarts times in all: there are Restarts+1 trees.
//
// A person takes part in at most Participations of all steps, at whatever distance from
// each other; a single epoch is 1. Steps, the persons' data in them and who takes part may be
// chosen after seeing earlier nodes.
//
// What is computed from the released nodes is post-processing: prefix sums, and the
// estimates of smaller variance that use all nodes below (Honaker 2015).
type TreeAggregation struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
	Steps           int64   `json:"steps"`
	Restarts        int64   `json:"restarts"`
	Participations  int64   `json:"participations"`
}

// mostTreeSteps bounds the steps of all trees, so that they are exact as float64s.
const mostTreeSteps = 1 << 40

func (TreeAggregation) sealed() {}

// Kind returns "tree_aggregation".
func (TreeAggregation) Kind() string { return "tree_aggregation" }

// Depth is the number of nodes of a tree that a step can be in.
func (e TreeAggregation) Depth() int { return bits.Len64(uint64(e.Steps)) }

// Validate checks that the noise multiplier is positive and finite, that there is at least one
// step, at most 2^40 in all trees, and that a person takes part in 1 to all of them.
func (e TreeAggregation) Validate() error {
	if e.Steps < 1 || e.Steps > mostTreeSteps {
		return invalid(e, "steps", e.Steps, "1 to 2^40")
	}
	if e.Restarts < 0 || e.Restarts > mostTreeSteps/e.Steps-1 {
		return invalid(e, "restarts", e.Restarts, "0 or more, and at most 2^40 steps in all trees")
	}
	if e.Participations < 1 || e.Participations > e.Steps*(e.Restarts+1) {
		return invalid(e, "participations", e.Participations, "1 to the number of steps in all trees")
	}
	return positive(e, "noise_multiplier", e.NoiseMultiplier)
}

// MarshalJSON implements [json.Marshaler].
func (e TreeAggregation) MarshalJSON() ([]byte, error) {
	type plain TreeAggregation
	return tagged(e.Kind(), plain(e))
}
