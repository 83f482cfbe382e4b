package policy

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// columns is a policy known through its probability of every action, recorded in
// the data: column k holds that of action k in the row's state. Any policy
// whatsoever can be given so, at the price of one column an action.
type columns struct{ raw feature.Raw }

// NewColumns returns the policy whose probability of action k is the observation
// column names[k]. The numbers of a row lie in [0, 1] and add up to 1 within
// 1e-6; a row for which they do not cannot be judged.
func NewColumns(names []string) (Policy, error) {
	raw, err := feature.NewRaw(names)
	if err != nil {
		return nil, fmt.Errorf("%w: columns: %w", ErrPolicy, err)
	}
	if raw.Dim() < 2 {
		return nil, fmt.Errorf("%w: columns: one name; want one an action, in the order of the actions' numbers (for the logged action alone use kind column)", ErrPolicy)
	}
	return columns{raw}, nil
}

// Actions is the number of columns.
func (c columns) Actions() int { return c.raw.Dim() }

// Columns names the observation columns that the policy reads.
func (c columns) Columns() []string { return c.raw.Columns() }

// MaxProb is 1.
func (columns) MaxProb() float64 { return 1 }

// Bind implements [Policy].
func (c columns) Bind(d *trajectory.Dataset) (Bound, error) {
	if err := needActions(d); err != nil {
		return nil, err
	}
	b, err := c.raw.Bind(d.Columns)
	if err != nil {
		return nil, err
	}
	return &boundColumns{d: d, bound: b, probs: make([]float64, c.raw.Dim())}, nil
}

type boundColumns struct {
	d     *trajectory.Dataset
	bound feature.Bound
	probs []float64
}

func (b *boundColumns) Actions() int { return len(b.probs) }

func (b *boundColumns) Prob(row int) (float64, bool) {
	a := b.d.Action[row]
	if a < 0 || int(a) >= len(b.probs) || !b.Distribution(b.probs, row) {
		return 0, false
	}
	return b.probs[a], true
}

func (b *boundColumns) Distribution(dst []float64, row int) bool {
	clear(dst)
	p := dst[:len(b.probs)]
	if !b.bound.Apply(p, b.d.Observation(row)) || !isDistribution(p) {
		clear(dst)
		return false
	}
	return true
}

// isDistribution is checkDistribution without an error to make: it is called for
// every row, and its error would hold private values.
func isDistribution(p []float64) bool {
	sum := 0.0
	for _, x := range p {
		sum += x
	}
	return sum >= 1-sumTolerance && sum <= 1+sumTolerance &&
		!slices.ContainsFunc(p, func(x float64) bool { return !(x >= 0 && x <= 1) })
}
