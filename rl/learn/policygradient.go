package learn

import (
	"fmt"
	"math"
	"slices"
)

// PolicyGradient is the REINFORCE estimate (Williams 1992) with returns centred
// over the episodes at hand, which needs no value head:
//
//	L = -(1/N) sum_t log pi(a_t|s_t) (G_t - mean G)
//
// where G_t is the discounted return from step t on and the sums run over all N
// steps of all episodes. It holds memory to work in and may not be shared by
// goroutines.
type PolicyGradient struct {
	// Gamma is the discount, in [0, 1].
	Gamma float64
	// Entropy is the weight of an entropy bonus, 0 by default.
	Entropy float64
	// Standardise divides the centred returns by their standard deviation.
	Standardise bool

	net     *MLP
	returns []float64
	delta   []float64
	probs   []float64
}

// Bind checks the settings and ties them to a network. The error wraps
// [ErrOptions].
func (g PolicyGradient) Bind(net *MLP) (*PolicyGradient, error) {
	if !(g.Gamma >= 0 && g.Gamma <= 1) || math.IsNaN(g.Entropy) || math.IsInf(g.Entropy, 0) {
		return nil, fmt.Errorf("%w: gamma is %v, entropy weight %v; want 0 to 1 and a finite number", ErrOptions, g.Gamma, g.Entropy)
	}
	g.net = net
	g.delta, g.probs = make([]float64, net.row), make([]float64, net.net.Actions)
	g.returns = nil
	return &g, nil
}

// Gradient adds the gradient of the loss over the episodes to dst, of length Dim.
// They must have been played, or replayed, with the weights theta.
func (g *PolicyGradient) Gradient(dst, theta []float64, episodes []Episode) {
	g.centre(episodes)
	scale := 1 / float64(max(1, len(g.returns)))
	i, row := 0, g.net.row
	for n := range episodes {
		e := &episodes[n]
		for t := range e.Steps() {
			at := e.rows[t*row:][:row]
			g.logits(at, int(e.Action[t]), scale*g.returns[i], scale)
			g.net.backward(dst, theta, e.Obs(t, g.net.net.Inputs), at, g.delta)
			i++
		}
	}
}

// logits writes the derivatives of one step's loss by the logits.
func (g *PolicyGradient) logits(row []float64, action int, weight, scale float64) {
	clear(g.delta)
	logits := row[g.net.logits:][:len(g.probs)]
	whole := softmax(g.probs, logits)
	entropy := 0.0
	if g.Entropy != 0 {
		for k, p := range g.probs {
			entropy -= p * (logits[k] - whole)
		}
	}
	for k, p := range g.probs {
		d := weight * p
		if k == action {
			d -= weight
		}
		if g.Entropy != 0 {
			d += scale * g.Entropy * p * (logits[k] - whole + entropy)
		}
		g.delta[g.net.logits+k] = d
	}
}

// centre computes the returns of all steps, centred.
func (g *PolicyGradient) centre(episodes []Episode) {
	g.returns = g.returns[:0]
	total := 0.0
	for n := range episodes {
		e := &episodes[n]
		from := len(g.returns)
		g.returns = slices.Grow(g.returns, e.Steps())[:from+e.Steps()]
		future := 0.0
		for t := e.Steps() - 1; t >= 0; t-- {
			future = e.Reward[t] + g.Gamma*future
			g.returns[from+t] = future
			total += future
		}
	}
	mean := total / float64(max(1, len(g.returns)))
	square := 0.0
	for i := range g.returns {
		g.returns[i] -= mean
		square += g.returns[i] * g.returns[i]
	}
	if sd := math.Sqrt(square / float64(max(1, len(g.returns)))); g.Standardise && sd > 0 {
		for i := range g.returns {
			g.returns[i] /= sd
		}
	}
}
