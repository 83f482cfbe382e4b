package value

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// MSPBE is the mean squared projected Bellman error of theta,
//
//	(b - A theta)' C^-1 (b - A theta),
//
// in squared units of the reward (Sutton et al. 2009). The moments are averages:
// exact ones from [FiniteMDP.Moments], or [EmpiricalMoments] of a large
// independent sample.
//
// Where C is singular its pseudo-inverse takes the place of C^-1. Nothing is
// lost: a direction v with C v = 0 has phi'v = 0 almost surely, so that b - A
// theta has no component along v either.
func (m *Moments) MSPBE(theta []float64) (float64, error) {
	if len(theta) != m.N {
		panic(fmt.Sprintf("value: MSPBE: theta has length %d, the moments %d features", len(theta), m.N))
	}
	n := m.N
	residual := make([]float64, n)
	for i := range residual {
		residual[i] = m.B[i] - floats.Dot(m.A[i*n:i*n+n], theta)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, m.C), true) {
		return 0, fmt.Errorf("%w: the eigenvalues of C do not converge", ErrSingular)
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	// Eigenvalues come in ascending order and carry an error of about n ulps of
	// the largest.
	floor := float64(n) * 0x1p-50 * values[n-1]
	sum := 0.0
	for k, lambda := range values {
		if lambda <= floor {
			continue
		}
		x := mat.Dot(vectors.ColView(k), mat.NewVecDense(n, residual))
		sum += x * x / lambda
	}
	return sum, nil
}
