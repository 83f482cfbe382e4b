package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Network describes a small multilayer perceptron: layers of rectified linear
// units, and on the last of them a policy head and, for actor-critic methods, a
// value head. Without hidden layers it is the linear softmax policy.
type Network struct {
	// Inputs is the length of an observation, Actions the number of actions.
	Inputs  int `json:"inputs"`
	Actions int `json:"actions"`
	// Hidden holds the width of each hidden layer, first to last.
	Hidden []int `json:"hidden"`
	// Value adds a value head.
	Value bool `json:"value,omitempty"`
	// Bias gives every unit a bias.
	Bias bool `json:"bias,omitempty"`
	// ReLULogits and ReLUValue cut off the heads below 0.
	ReLULogits bool `json:"relu_logits,omitempty"`
	ReLUValue  bool `json:"relu_value,omitempty"`
}

// MLP is a network that is ready to compute. It holds no weights: those are one
// slice of [MLP.Dim] numbers, layer by layer, each layer's matrix row by row (one
// row a unit) and then its biases; the policy head and the value head come last.
// It is immutable and safe for concurrent use.
type MLP struct {
	net    Network
	layers []layer // hidden layers, policy head, value head
	dim    int
	row    int // numbers that Forward writes
	logits int // where the logits begin in a row
	value  int // where the value is in a row; -1 without
}

// layer is one matrix of weights.
type layer struct {
	in, out    int
	at, biasAt int // offsets into the weights; biasAt is -1 without biases
	from, to   int // offsets into a row: inputs (-1: the observation), outputs
	relu       bool
}

// maxDim is the largest number of weights of an [MLP].
const maxDim = 1 << 24

// NewMLP checks a description and lays out its weights, at most [maxDim]. The
// error wraps [ErrOptions].
func NewMLP(n Network) (*MLP, error) {
	if n.Inputs < 1 || n.Actions < 1 {
		return nil, fmt.Errorf("%w: network of %d inputs and %d actions; want at least 1 of each", ErrOptions, n.Inputs, n.Actions)
	}
	if !n.fits() {
		return nil, fmt.Errorf("%w: network of %d inputs, %d actions and hidden layers of %v units has more than %d weights; make the layers narrower",
			ErrOptions, n.Inputs, n.Actions, n.Hidden, maxDim)
	}
	n.Hidden = slices.Clone(n.Hidden)
	m := &MLP{net: n, value: -1}
	in, from := n.Inputs, -1
	for i, width := range n.Hidden {
		if width < 1 {
			return nil, fmt.Errorf("%w: hidden layer %d has %d units; want at least 1", ErrOptions, i+1, width)
		}
		from = m.add(in, width, from, true)
		in = width
	}
	m.logits = m.add(in, n.Actions, from, n.ReLULogits)
	if n.Value {
		m.value = m.add(in, 1, from, n.ReLUValue)
	}
	return m, nil
}

// fits tells whether the weights are at most maxDim; no product overflows. A layer
// without units is left to another error.
func (n Network) fits() bool {
	in, left := n.Inputs, maxDim
	for _, out := range append(slices.Clone(n.Hidden), n.heads()) {
		each := in // weights of a unit
		if n.Bias {
			each++
		}
		if in > maxDim || out > left/each {
			return false
		}
		if out < 1 {
			return true
		}
		left -= out * each
		in = out
	}
	return true
}

// heads is the number of outputs, which all have the same inputs.
func (n Network) heads() int {
	if n.Value && n.Actions < math.MaxInt {
		return n.Actions + 1
	}
	return n.Actions
}

// add appends a layer and returns where its outputs are in a row.
func (m *MLP) add(in, out, from int, relu bool) int {
	l := layer{in: in, out: out, at: m.dim, biasAt: -1, from: from, to: m.row, relu: relu}
	m.dim += in * out
	if m.net.Bias {
		l.biasAt = m.dim
		m.dim += out
	}
	m.row += out
	m.layers = append(m.layers, l)
	return l.to
}

// Network returns the description.
func (m *MLP) Network() Network {
	n := m.net
	n.Hidden = slices.Clone(n.Hidden)
	return n
}

// Dim is the number of weights.
func (m *MLP) Dim() int { return m.dim }

// Init is a law of initial weights. Biases always begin at 0.
type Init struct {
	// Normal is the standard deviation of normal weights. At 0 weights are those of
	// Glorot and Bengio (2010): uniform within sqrt(6/(inputs+outputs)) of zero.
	Normal float64
}

// Init overwrites theta, of length Dim, with initial weights.
func (m *MLP) Init(theta []float64, law Init, rng *rand.Rand) {
	clear(theta)
	for _, l := range m.layers {
		limit := math.Sqrt(6 / float64(l.in+l.out))
		for i := range theta[l.at : l.at+l.in*l.out] {
			if law.Normal > 0 {
				theta[l.at+i] = law.Normal * rng.NormFloat64()
			} else {
				theta[l.at+i] = limit * (2*rng.Float64() - 1)
			}
		}
	}
}

// forward computes every layer's outputs into row, of length m.row.
func (m *MLP) forward(theta, obs, row []float64) {
	for i := range m.layers {
		l := &m.layers[i]
		x := obs
		if l.from >= 0 {
			x = row[l.from : l.from+l.in]
		}
		out := row[l.to : l.to+l.out]
		for j := range out {
			w := theta[l.at+j*l.in:][:len(x)]
			sum := 0.0
			if l.biasAt >= 0 {
				sum = theta[l.biasAt+j]
			}
			for k, v := range x {
				sum += w[k] * v
			}
			if l.relu && !(sum > 0) {
				sum = 0
			}
			out[j] = sum
		}
	}
}

// backward adds to grad the gradient of a loss whose derivatives by the heads'
// outputs stand in delta, laid out as row; it overwrites the rest of delta.
func (m *MLP) backward(grad, theta, obs, row, delta []float64) {
	clear(delta[:m.logits])
	for i := len(m.layers) - 1; i >= 0; i-- {
		l := &m.layers[i]
		x := obs
		var back []float64
		if l.from >= 0 {
			x, back = row[l.from:l.from+l.in], delta[l.from:l.from+l.in]
		}
		for j := range l.out {
			d := delta[l.to+j]
			if d == 0 || l.relu && row[l.to+j] == 0 {
				continue
			}
			g := grad[l.at+j*l.in:][:len(x)]
			for k, v := range x {
				g[k] += d * v
			}
			if l.biasAt >= 0 {
				grad[l.biasAt+j] += d
			}
			if back != nil {
				w := theta[l.at+j*l.in:][:len(back)]
				for k, v := range w {
					back[k] += d * v
				}
			}
		}
	}
}

// Probabilities writes the policy's probability of each action at obs to dst, of
// length Actions. It is uniform where the logits are not finite. work is a slice
// to compute in, which may be nil.
func (m *MLP) Probabilities(dst, theta, obs, work []float64) {
	if cap(work) < m.row {
		work = make([]float64, m.row)
	}
	work = work[:m.row]
	m.forward(theta, obs, work)
	softmax(dst, work[m.logits:m.logits+m.net.Actions])
}

// softmax writes the probabilities of the logits to dst and returns the logarithm
// of their common denominator: log dst[a] = logits[a] - it. It subtracts the
// largest logit, so that exp cannot overflow. Where a logit is not finite dst is
// uniform and the result NaN.
func softmax(dst, logits []float64) float64 {
	top, total := slices.Max(logits), 0.0
	for a, z := range logits {
		dst[a] = math.Exp(z - top)
		total += dst[a]
	}
	if !(total >= 1) || math.IsInf(total, 0) {
		for a := range dst {
			dst[a] = 1 / float64(len(dst))
		}
		return math.NaN()
	}
	for a := range dst {
		dst[a] /= total
	}
	return top + math.Log(total)
}
