package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Softmax chooses action a in state s with probability proportional to
// exp(w_a' phi(s) / temperature) (Sutton and Barto 2018, section 13.1).
type Softmax struct {
	features    feature.Map
	weights     []float64 // actions x Dim, row by row
	actions     int
	temperature float64
}

// NewSoftmax returns the softmax policy with the given weights, one row of
// features.Dim() numbers an action, and temperature above 0.
func NewSoftmax(features feature.Map, weights [][]float64, temperature float64) (Softmax, error) {
	if features == nil {
		return Softmax{}, fmt.Errorf("%w: softmax: features are missing", ErrPolicy)
	}
	if !(temperature > 0) || math.IsInf(temperature, 0) {
		return Softmax{}, fmt.Errorf("%w: softmax: temperature is %v; want a finite number above 0", ErrPolicy, temperature)
	}
	if len(weights) == 0 {
		return Softmax{}, fmt.Errorf("%w: softmax: no weights; want one row of %d numbers an action", ErrPolicy, features.Dim())
	}
	p := Softmax{features: features, actions: len(weights), temperature: temperature}
	for a, row := range weights {
		if len(row) != features.Dim() {
			return Softmax{}, fmt.Errorf("%w: softmax: action %d has %d weights; want %d, one a feature", ErrPolicy, a, len(row), features.Dim())
		}
		for i, w := range row {
			if math.IsNaN(w) || math.IsInf(w, 0) {
				return Softmax{}, fmt.Errorf("%w: softmax: weight %d of action %d is %v; want a finite number", ErrPolicy, i, a, w)
			}
		}
		p.weights = append(p.weights, row...)
	}
	return p, nil
}

// ReadSoftmax reads a policy as JSON. An unknown field is an error. temperature
// is 1 when left out; features is a [feature.Spec]:
//
//	{"features": {"kind": "columns", "names": ["obs_x"], "low": [0], "high": [1], "intercept": true},
//	 "weights": [[0, 0], [0.5, -1]], "temperature": 1}
func ReadSoftmax(r io.Reader, name string) (Softmax, error) {
	file := struct {
		Features    feature.Spec `json:"features"`
		Weights     [][]float64  `json:"weights"`
		Temperature float64      `json:"temperature"`
	}{Temperature: 1}
	in := json.NewDecoder(r)
	in.DisallowUnknownFields()
	if err := in.Decode(&file); err != nil {
		return Softmax{}, fmt.Errorf("%w: %s: %w", ErrPolicy, name, err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return Softmax{}, fmt.Errorf("%w: %s: text after the policy; want one JSON object", ErrPolicy, name)
	}
	m, err := file.Features.Map()
	if err != nil {
		return Softmax{}, fmt.Errorf("%w: %s: features: %w", ErrPolicy, name, err)
	}
	p, err := NewSoftmax(m, file.Weights, file.Temperature)
	if err != nil {
		return Softmax{}, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// Actions is the number of rows of weights.
func (p Softmax) Actions() int { return p.actions }

// Columns names the observation columns that the policy reads.
func (p Softmax) Columns() []string { return p.features.Columns() }

// MaxProb is 1, the limit that large weights approach.
func (p Softmax) MaxProb() float64 { return 1 }

// Bind implements [Policy].
func (p Softmax) Bind(d *trajectory.Dataset) (Bound, error) {
	if err := needActions(d); err != nil {
		return nil, err
	}
	b, err := p.features.Bind(d.Columns)
	if err != nil {
		return nil, err
	}
	return &boundSoftmax{
		Softmax: p, bound: b, d: d,
		phi: make([]float64, p.features.Dim()), probs: make([]float64, p.actions),
	}, nil
}

type boundSoftmax struct {
	Softmax
	bound      feature.Bound
	d          *trajectory.Dataset
	phi, probs []float64
}

func (b *boundSoftmax) Prob(row int) (float64, bool) {
	a := b.d.Action[row]
	if a < 0 || int(a) >= b.actions || !b.Distribution(b.probs, row) {
		return 0, false
	}
	return b.probs[a], true
}

func (b *boundSoftmax) Distribution(dst []float64, row int) bool {
	clear(dst)
	if !b.bound.Apply(b.phi, b.d.Observation(row)) {
		return false
	}
	return b.softmax(dst[:b.actions])
}

// softmax subtracts the largest preference, so that exp cannot overflow. It
// returns false, and zeros, where the preferences themselves overflow.
func (b *boundSoftmax) softmax(dst []float64) bool {
	n := len(b.phi)
	for a := range dst {
		sum := 0.0
		for i, w := range b.weights[a*n : a*n+n] {
			sum += w * b.phi[i]
		}
		dst[a] = sum / b.temperature
	}
	top, total := slices.Max(dst), 0.0
	for a, x := range dst {
		dst[a] = math.Exp(x - top)
		total += dst[a]
	}
	if !(total >= 1) || math.IsInf(total, 0) {
		clear(dst)
		return false
	}
	for a := range dst {
		dst[a] /= total
	}
	return true
}
