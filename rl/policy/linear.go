package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// linear holds action preferences w_a' phi(s), such as a linear Q function: what
// the softmax and the soft greedy policy share.
type linear struct {
	features feature.Map
	weights  []float64 // actions x Dim, row by row
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

// networkSchema begins the file of a trained network with hidden layers.
const networkSchema = "discreet/network-policy/v1"

// decodeOne reads one JSON object into file, and wants nothing after it.
func decodeOne(r io.Reader, name string, file any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrPolicy, name, err)
	}
	var kind struct {
		Schema string `json:"schema"`
	}
	if json.Unmarshal(text, &kind) == nil && kind.Schema == networkSchema {
		return fmt.Errorf("%w: %s: a network with hidden layers; only policies that are linear in their features can be targets here: train one without hidden layers (network.hidden: [])", ErrPolicy, name)
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(file); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrPolicy, name, err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %s: text after the policy; want one JSON object", ErrPolicy, name)
	}
	return nil
}

// readMap builds the features of a policy file.
func readMap(s feature.Spec, name string) (feature.Map, error) {
	m, err := s.Map()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: features: %w", ErrPolicy, name, err)
	}
	return m, nil
}
