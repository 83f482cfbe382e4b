package policy

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// SoftGreedy is greedy with probability 1-epsilon and uniform otherwise: of K
// actions each has probability epsilon/K, and those with the largest preference
// w_a' phi(s) share 1-epsilon equally. With epsilon above 0 it is epsilon-soft
// (Sutton and Barto 2018, section 5.4), and importance ratios of data that it
// logged are at most K/epsilon.
type SoftGreedy struct {
	linear
	epsilon float64
}

// NewSoftGreedy returns the policy with the given weights, one row of
// features.Dim() numbers an action, and epsilon in [0, 1].
func NewSoftGreedy(features feature.Map, weights [][]float64, epsilon float64) (SoftGreedy, error) {
	l, err := newLinear("soft greedy", features, weights)
	if err != nil {
		return SoftGreedy{}, err
	}
	return SoftGreedy{linear: l}.WithEpsilon(epsilon)
}

// WithEpsilon returns the policy of the same preferences with another epsilon,
// in [0, 1].
func (p SoftGreedy) WithEpsilon(epsilon float64) (SoftGreedy, error) {
	if !(epsilon >= 0 && epsilon <= 1) {
		return SoftGreedy{}, fmt.Errorf("%w: soft greedy: epsilon is %v; want 0 to 1", ErrPolicy, epsilon)
	}
	p.epsilon = epsilon
	return p, nil
}

// ReadSoftGreedy reads a policy as JSON, in the format of [ReadSoftmax] with
// epsilon in place of temperature: 0, a greedy policy, when left out.
//
//	{"kind": "soft-greedy", "inputs": ["obs_x"], "weights": [[0], [-1]], "epsilon": 0.1}
func ReadSoftGreedy(r io.Reader, name string) (SoftGreedy, error) {
	var file struct {
		linearFile
		Epsilon float64 `json:"epsilon"`
	}
	if err := readFile(r, name, &file); err != nil {
		return SoftGreedy{}, err
	}
	l, err := file.preferences("soft-greedy")
	if err != nil {
		return SoftGreedy{}, fmt.Errorf("%w: %s: %w", ErrPolicy, name, err)
	}
	p, err := SoftGreedy{linear: l}.WithEpsilon(file.Epsilon)
	if err != nil {
		return SoftGreedy{}, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// MaxProb is 1 - epsilon + epsilon/K, rounded up.
func (p SoftGreedy) MaxProb() float64 {
	// Two roundings, each of at most half an ulp of a number not above 1.
	return min(1, 1-p.epsilon+p.epsilon/float64(p.actions)+0x1p-51)
}

// Bind implements [Policy].
func (p SoftGreedy) Bind(d *trajectory.Dataset) (Bound, error) { return p.bind(d, p.probabilities) }

// probabilities makes probabilities of preferences, in place. It returns false
// where the preferences overflow.
func (p SoftGreedy) probabilities(dst []float64) bool {
	top, ties := slices.Max(dst), 0.0
	for _, x := range dst {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
		if x == top {
			ties++
		}
	}
	rest := p.epsilon / float64(p.actions)
	for a, x := range dst {
		dst[a] = rest
		if x == top {
			dst[a] += (1 - p.epsilon) / ties
		}
	}
	return true
}
