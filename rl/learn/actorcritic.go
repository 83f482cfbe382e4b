package learn

import (
	"fmt"
	"math"
	"slices"
)

// ActorCritic is the loss of advantage actor-critic on one episode of T steps
// (Mnih et al. 2016; Ono and Takahashi 2020, equations 15 to 18):
//
//	L = -sum_t log pi(a_t|s_t) A_t - Entropy sum_t H(pi(.|s_t)) + ValueWeight sum_t (R_t - V(s_t))^2
//	R_t = sum_{j>=t} Gamma^{j-t} r_j + Gamma^{T-t} V(s_T),   A_t = R_t - V(s_t)
//
// with t from 0 to T-1 and V(s_T) = 0 where the episode terminated. The fields
// after the first four are the readings that the papers leave open. It holds
// memory to work in and may not be shared by goroutines.
type ActorCritic struct {
	// Gamma is the discount, in [0, 1].
	Gamma float64
	// Entropy is the weight of the entropy bonus; a negative one is a penalty.
	Entropy float64
	// ValueWeight is the weight of the value loss.
	ValueWeight float64
	// Detach takes the advantage for a constant in the policy's loss, so that only
	// the value loss trains the value head.
	Detach bool
	// DetachReturn takes R_t for a constant, everywhere. Without it, V(s_T) learns
	// from R_t as well.
	DetachReturn bool
	// BootstrapTerminal uses V(s_T) even where the episode terminated.
	BootstrapTerminal bool
	// PlainBootstrap adds V(s_T) to R_t without the discount, as equation 18 is
	// printed.
	PlainBootstrap bool
	// Mean divides the loss by T.
	Mean bool

	net    *MLP
	deltas []float64 // by step, laid out as the network's rows
	probs  []float64
	bonus  []float64 // by step: Gamma^{T-t}, or 1
}

// Bind checks the settings and ties them to a network, which needs a value head.
// The error wraps [ErrOptions].
func (a ActorCritic) Bind(net *MLP) (*ActorCritic, error) {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch {
	case net.value < 0:
		return nil, fmt.Errorf("%w: actor-critic needs a value head; set Network.Value", ErrOptions)
	case !(a.Gamma >= 0 && a.Gamma <= 1):
		return nil, fmt.Errorf("%w: gamma is %v; want 0 to 1", ErrOptions, a.Gamma)
	case !finite(a.Entropy) || !(a.ValueWeight >= 0) || !finite(a.ValueWeight):
		return nil, fmt.Errorf("%w: entropy weight %v, value weight %v; want finite numbers, the second not below 0", ErrOptions, a.Entropy, a.ValueWeight)
	}
	a.net = net
	a.probs = make([]float64, net.net.Actions)
	a.deltas, a.bonus = nil, nil
	return &a, nil
}

// returnFactors prepares Gamma^{T-t}, the factor of V(s_T) in R_t, and returns
// V(s_T), 0 where it does not count.
func (a *ActorCritic) returnFactors(e *Episode) float64 {
	steps := e.Steps()
	a.bonus = slices.Grow(a.bonus[:0], steps)[:steps]
	factor := 1.0
	for t := steps - 1; t >= 0; t-- {
		if !a.PlainBootstrap {
			factor *= a.Gamma
		}
		a.bonus[t] = factor
	}
	if e.Terminated && !a.BootstrapTerminal {
		clear(a.bonus)
		return 0
	}
	return e.rows[steps*a.net.row+a.net.value]
}

// Gradient adds the gradient of the loss to dst, of length Dim, and returns the
// loss. The episode must have been played, or replayed, with the weights theta.
func (a *ActorCritic) Gradient(dst, theta []float64, e *Episode) float64 {
	steps, row := e.Steps(), a.net.row
	if steps == 0 {
		return 0
	}
	last := a.returnFactors(e)
	a.deltas = slices.Grow(a.deltas[:0], (steps+1)*row)[:(steps+1)*row]
	scale := 1.0
	if a.Mean {
		scale = 1 / float64(steps)
	}
	loss, future, toLast := 0.0, 0.0, 0.0
	for t := steps - 1; t >= 0; t-- {
		future = e.Reward[t] + a.Gamma*future
		at := e.rows[t*row:][:row]
		delta := a.deltas[t*row:][:row]
		advantage := future + a.bonus[t]*last - at[a.net.value]
		logPi, entropy := a.policyDelta(delta, at, int(e.Action[t]), advantage, scale)
		loss += -logPi*advantage - a.Entropy*entropy + a.ValueWeight*advantage*advantage
		byValue := -2 * a.ValueWeight * advantage // of the loss by V(s_t)
		byReturn := -byValue                      // and by R_t
		if !a.Detach {
			byValue += logPi
			byReturn -= logPi
		}
		delta[a.net.value] = scale * byValue
		if !a.DetachReturn {
			toLast += byReturn * a.bonus[t]
		}
	}
	end := a.deltas[steps*row:][:row]
	clear(end)
	end[a.net.value] = scale * toLast
	for t := range steps + 1 {
		a.net.backward(dst, theta, e.Obs(t, a.net.net.Inputs), e.rows[t*row:][:row], a.deltas[t*row:][:row])
	}
	return scale * loss
}

// policyDelta writes the derivatives of one step's policy loss by the logits and
// returns log pi(a|s) and the entropy.
func (a *ActorCritic) policyDelta(delta, row []float64, action int, advantage, scale float64) (logPi, entropy float64) {
	logits := row[a.net.logits:][:len(a.probs)]
	whole := softmax(a.probs, logits)
	for k, p := range a.probs {
		entropy -= p * (logits[k] - whole)
	}
	for k, p := range a.probs {
		d := advantage*p + a.Entropy*p*(logits[k]-whole+entropy)
		if k == action {
			d -= advantage
		}
		delta[a.net.logits+k] = scale * d
	}
	return logits[action] - whole, entropy
}
