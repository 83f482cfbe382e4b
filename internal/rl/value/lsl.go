package value

import (
	"fmt"
	"math"
)

// LSL is least squares on first-visit Monte Carlo returns, weighted by how many
// persons visit a state, with an l2 penalty (Balle, Gomrokchi and Precup 2016,
// section 4):
//
//	theta = (Phi'G_X Phi + lambda/(2m) I)^-1 Phi'G_X F_X,  G_X = diag(rho_s |X_s| / m),
//
// where |X_s| of the m persons visit s. It is on-policy.
type LSL struct {
	// Weights holds rho_s >= 0 by state; nil stands for 1 everywhere.
	Weights []float64
	// Lambda is the penalty, above 0.
	Lambda float64
}

// Solve returns theta, of length s.Dim.
//
// With one-hot features the system is diagonal and the factor 1/m cancels.
func (l LSL) Solve(s *Sample) ([]float64, error) {
	if !(l.Lambda > 0) || math.IsInf(l.Lambda, 0) {
		return nil, fmt.Errorf("%w: lsl: lambda is %v; want a finite number above 0", ErrOptions, l.Lambda)
	}
	mean, persons, err := MonteCarlo(s)
	if err != nil {
		return nil, err
	}
	weights, err := stateWeights("lsl", l.Weights, s.States)
	if err != nil {
		return nil, err
	}
	theta, total := make([]float64, s.Dim), make([]float64, s.Dim)
	for state, w := range weights {
		c := s.cellOf(state)
		theta[c] += w * persons[state] * mean[state]
		total[c] += w * persons[state]
	}
	for c := range theta {
		theta[c] /= total[c] + l.Lambda/2
	}
	return theta, nil
}
