package policy

import (
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
	linear
	temperature float64
}

// NewSoftmax returns the softmax policy with the given weights, one row of
// features.Dim() numbers an action, and temperature above 0.
func NewSoftmax(features feature.Map, weights [][]float64, temperature float64) (Softmax, error) {
	l, err := newLinear("softmax", features, weights)
	if err != nil {
		return Softmax{}, err
	}
	return Softmax{linear: l}.WithTemperature(temperature)
}

// WithTemperature returns the policy of the same preferences at another
// temperature, above 0.
func (p Softmax) WithTemperature(temperature float64) (Softmax, error) {
	if !(temperature > 0) || math.IsInf(temperature, 0) {
		return Softmax{}, fmt.Errorf("%w: softmax: temperature is %v; want a finite number above 0", ErrPolicy, temperature)
	}
	p.temperature = temperature
	return p, nil
}

// ReadSoftmax reads a policy as JSON; docs/policies.md has the format. Inputs are
// observation columns as they are, weights a row of numbers an action, and
// temperature is 1 when left out:
//
//	{"kind": "softmax", "inputs": ["obs_x"], "weights": [[0], [-1]], "intercept": [0, 0.5], "temperature": 1}
//
// In place of inputs a [feature.Spec] may stand under features; its ranges clip,
// which "clip": true must confirm. A member that is unknown or given twice is an
// error, and so is a file that could mean two policies.
func ReadSoftmax(r io.Reader, name string) (Softmax, error) {
	file := struct {
		linearFile
		Temperature float64 `json:"temperature"`
	}{Temperature: 1}
	if err := readFile(r, name, &file); err != nil {
		return Softmax{}, err
	}
	l, err := file.preferences("softmax")
	if err != nil {
		return Softmax{}, fmt.Errorf("%w: %s: %w", ErrPolicy, name, err)
	}
	p, err := Softmax{linear: l}.WithTemperature(file.Temperature)
	if err != nil {
		return Softmax{}, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// MaxProb is 1, the limit that large weights approach.
func (p Softmax) MaxProb() float64 { return 1 }

// Bind implements [Policy].
func (p Softmax) Bind(d *trajectory.Dataset) (Bound, error) { return p.bind(d, p.probabilities) }

// probabilities makes probabilities of preferences, in place. It subtracts the
// largest one, so that exp cannot overflow, and returns false where the
// preferences themselves overflow.
func (p Softmax) probabilities(dst []float64) bool {
	for a := range dst {
		dst[a] /= p.temperature
	}
	top, total := slices.Max(dst), 0.0
	for a, x := range dst {
		dst[a] = math.Exp(x - top)
		total += dst[a]
	}
	if !(total >= 1) || math.IsInf(total, 0) {
		return false
	}
	for a := range dst {
		dst[a] /= total
	}
	return true
}
