package policy

import (
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// inputs are what a tree asks about: columns as they are and, after these, the number of the decision.
type inputs struct {
	raw  feature.Raw
	step bool // whether the number is asked for
}

// Columns names the observation columns that the policy reads.
func (in inputs) Columns() []string { return in.raw.Columns() }

// ReadsStep reports whether what is done may depend on how many decisions an episode had before.
func (in inputs) ReadsStep() bool { return in.step }

func (in inputs) bind(d *trajectory.Dataset) (boundInputs, error) {
	bound, err := in.raw.Bind(d.Columns)
	return boundInputs{in, bound, d, make([]float64, in.raw.Dim()+1)}, err
}

type boundInputs struct {
	inputs
	bound feature.Bound
	d     *trajectory.Dataset
	x     []float64
}

// at are the inputs of a row; false where an observation is missing.
func (b *boundInputs) at(row int) ([]float64, bool) {
	last := len(b.x) - 1
	if b.step {
		b.x[last] = float64(decision(b.d, row))
	}
	return b.x, b.bound.Apply(b.x[:last], b.d.Observation(row))
}
