package value

import (
	"fmt"
	"math"
)

// LSW is least squares on first-visit Monte Carlo returns with public weights
// by state (Balle, Gomrokchi and Precup 2016, section 4):
//
//	theta = argmin sum_s w_s (F_X(s) - phi(s)'theta)^2,
//
// the solution of least norm, (G^1/2 Phi)^+ G^1/2 F_X with G = diag(w). F_X(s) is
// 0 for a state that nobody visits. It is on-policy.
type LSW struct {
	// Weights holds w_s >= 0 by state; nil stands for 1 everywhere.
	Weights []float64
}

// Solve returns theta, of length s.Dim.
//
// With one-hot features the solution is explicit: each coordinate is the
// weighted mean of F_X over its states, and 0 where their weights are 0.
func (l LSW) Solve(s *Sample) ([]float64, error) {
	mean, _, err := MonteCarlo(s)
	if err != nil {
		return nil, err
	}
	weights, err := stateWeights("lsw", l.Weights, s.States)
	if err != nil {
		return nil, err
	}
	theta, total := make([]float64, s.Dim), make([]float64, s.Dim)
	for state, w := range weights {
		c := s.cellOf(state)
		theta[c] += w * mean[state]
		total[c] += w
	}
	for c, w := range total {
		if w > 0 {
			theta[c] /= w
		}
	}
	return theta, nil
}

// stateWeights checks weights by state, or makes them all 1.
func stateWeights(method string, weights []float64, states int) ([]float64, error) {
	if weights == nil {
		weights = make([]float64, states)
		for i := range weights {
			weights[i] = 1
		}
		return weights, nil
	}
	if len(weights) != states {
		return nil, fmt.Errorf("%w: %s: %d weights for %d states", ErrOptions, method, len(weights), states)
	}
	for state, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("%w: %s: weight of state %d is %v; want a finite number, 0 or above", ErrOptions, method, state, w)
		}
	}
	return weights, nil
}
