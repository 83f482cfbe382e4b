package policy

import (
	"slices"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// stepInput is the input of a tree that is no column: the number of the decision in its episode, from 0.
const stepInput = "step"

// inputs are what a tree asks about: columns as they are and, last, the number of the decision.
type inputs struct {
	raw  feature.Raw
	step bool
}

func newInputs(names []string) (in inputs, err error) {
	columns := slices.Clone(names)
	if i := slices.Index(columns, stepInput); i >= 0 {
		in.step, columns = true, slices.Delete(columns, i, i+1)
		if len(columns) == 0 {
			return in, nil
		}
	}
	if slices.Contains(columns, stepInput) {
		columns = names // repeated, which is refused
	}
	in.raw, err = feature.NewRaw(columns)
	return in, err
}

// index is the place of an input; -1 of any other name.
func (in inputs) index(name string) int {
	if in.step && name == stepInput {
		return in.raw.Dim()
	}
	return slices.Index(in.raw.Columns(), name)
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
func (b boundInputs) at(row int) ([]float64, bool) {
	if b.step {
		b.x[len(b.x)-1] = float64(decision(b.d, row))
	}
	return b.x, b.bound.Apply(b.x[:len(b.x)-1], b.d.Observation(row))
}
