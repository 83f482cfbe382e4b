package value

// LSTD is least-squares temporal-difference learning, the theta with
// A theta = b (Bradtke and Barto 1996), with importance ratios when off-policy:
//
//	A = mean of rho phi (phi - gamma phi')',  b = mean of rho R phi.
type LSTD struct {
	// Weighting averages the transitions of an episode; 0 stands for
	// ByTransition, whose tabular fixed point is the value function.
	Weighting Weighting
	// Ridge is added to the diagonal of A, 0 or above.
	Ridge float64
}

// Solve returns theta, of length s.Dim. It fails with ErrSingular when the data
// do not determine it.
func (l LSTD) Solve(s *Sample) ([]float64, error) {
	w := l.Weighting
	if w == 0 {
		w = ByTransition
	}
	n := s.Dim
	m, err := empirical(s, w, &Moments{N: n, A: make([]float64, n*n), B: make([]float64, n)})
	if err != nil {
		return nil, err
	}
	return m.Solve(l.Ridge)
}
