package fqe

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ErrTarget marks a target policy whose probabilities do not follow from the cell of
// an observation.
var ErrTarget = fault.Input("the target policy's probabilities do not follow from the numbered states")

// Target is the target policy's probability of every action in every cell, the mean
// over its states; it is public. The policy must not read more than the state's
// column.
func Target(p policy.Policy, f feature.Finite) ([]float64, error) {
	k, n := p.Actions(), f.States()
	if k == 0 {
		return nil, fmt.Errorf("%w: it does not tell the probability of every action", ErrTarget)
	}
	// A log with one row for each state.
	d := &trajectory.Dataset{Columns: f.Columns(), PersonStart: []int{0}, EpisodeStart: []int{0}}
	if len(d.Columns) != 1 {
		return nil, fmt.Errorf("%w: a state is read from %d columns", ErrTarget, len(d.Columns))
	}
	for s := range n {
		d.Obs = append(d.Obs, float64(s))
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, s+1), append(d.PersonStart, s+1)
	}
	d.Action, d.Reward = make([]int32, n), make([]float64, n)
	bound, err := p.Bind(d)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTarget, err)
	}
	if bound.Actions() == 0 {
		return nil, fmt.Errorf("%w: it does not tell the probability of every action", ErrTarget)
	}
	out, states := make([]float64, f.Dim()*k), make([]float64, f.Dim())
	row := make([]float64, max(k, bound.Actions()))
	for s := range n {
		if !bound.Distribution(row, s) {
			return nil, fmt.Errorf("%w: it cannot judge state %d", ErrTarget, s)
		}
		c := f.Cell(s)
		states[c]++
		for a := range k {
			out[c*k+a] += row[a]
		}
	}
	for c, count := range states {
		for a := range k {
			if count > 0 {
				out[c*k+a] /= count
			}
		}
	}
	return out, nil
}
