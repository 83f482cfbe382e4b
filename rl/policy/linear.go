package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// linear holds action preferences w_a' phi(s) + b_a, such as a linear Q function
// or the scores of a logistic regression: what the softmax and the soft greedy
// policy share.
type linear struct {
	features feature.Map
	weights  []float64 // actions x Dim, row by row
	bias     []float64 // one an action; nil for none
	actions  int
}

func newLinear(kind string, features feature.Map, weights [][]float64) (linear, error) {
	if features == nil {
		return linear{}, fmt.Errorf("%w: %s: features are missing", ErrPolicy, kind)
	}
	if len(weights) == 0 {
		return linear{}, fmt.Errorf("%w: %s: no weights; want one row of %d numbers an action", ErrPolicy, kind, features.Dim())
	}
	l := linear{features: features, actions: len(weights)}
	for a, row := range weights {
		if len(row) != features.Dim() {
			return linear{}, fmt.Errorf("%w: %s: action %d has %d weights; want %d, one a feature", ErrPolicy, kind, a, len(row), features.Dim())
		}
		for i, w := range row {
			if math.IsNaN(w) || math.IsInf(w, 0) {
				return linear{}, fmt.Errorf("%w: %s: weight %d of action %d is %v; want a finite number", ErrPolicy, kind, i, a, w)
			}
		}
		l.weights = append(l.weights, row...)
	}
	return l, nil
}

// withIntercept returns the preferences with a constant added to each action's.
func (l linear) withIntercept(kind string, bias []float64) (linear, error) {
	if len(bias) != l.actions {
		return linear{}, fmt.Errorf("%w: %s: %d intercepts for %d actions; give one an action", ErrPolicy, kind, len(bias), l.actions)
	}
	for a, b := range bias {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return linear{}, fmt.Errorf("%w: %s: the intercept of action %d is %v; want a finite number", ErrPolicy, kind, a, b)
		}
	}
	l.bias = slices.Clone(bias)
	return l, nil
}

// Actions is the number of rows of weights.
func (l linear) Actions() int { return l.actions }

// Columns names the observation columns that the policy reads.
func (l linear) Columns() []string { return l.features.Columns() }

// bind ties the preferences to a dataset; turn makes probabilities of them in
// place, or reports false.
func (l linear) bind(d *trajectory.Dataset, turn func([]float64) bool) (Bound, error) {
	if err := needActions(d); err != nil {
		return nil, err
	}
	b, err := l.features.Bind(d.Columns)
	if err != nil {
		return nil, err
	}
	return &boundLinear{
		linear: l, bound: b, d: d, turn: turn,
		phi: make([]float64, l.features.Dim()), probs: make([]float64, l.actions),
	}, nil
}

type boundLinear struct {
	linear
	bound      feature.Bound
	d          *trajectory.Dataset
	turn       func([]float64) bool
	phi, probs []float64
}

func (b *boundLinear) Prob(row int) (float64, bool) {
	a := b.d.Action[row]
	if a < 0 || int(a) >= b.actions || !b.Distribution(b.probs, row) {
		return 0, false
	}
	return b.probs[a], true
}

func (b *boundLinear) Distribution(dst []float64, row int) bool {
	clear(dst)
	if !b.bound.Apply(b.phi, b.d.Observation(row)) {
		return false
	}
	n := len(b.phi)
	dst = dst[:b.actions]
	for a := range dst {
		sum := 0.0
		if b.bias != nil {
			sum = b.bias[a]
		}
		for i, w := range b.weights[a*n : a*n+n] {
			sum += w * b.phi[i]
		}
		dst[a] = sum
	}
	if !b.turn(dst) {
		clear(dst)
		return false
	}
	return true
}
