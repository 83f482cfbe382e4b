package value

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Weighting says how the transitions of an episode of tau transitions are
// averaged. The zero value is invalid, so that it is always chosen.
type Weighting int

const (
	// ByTrajectory gives every episode weight 1, its transitions 1/tau each. The
	// fixed point then differs from that of the state distribution, since long
	// episodes count less by transition.
	ByTrajectory Weighting = iota + 1
	// ByTransition gives every transition of an episode weight 1.
	ByTransition
)

// String returns "trajectory" or "transition".
func (w Weighting) String() string {
	switch w {
	case ByTrajectory:
		return "trajectory"
	case ByTransition:
		return "transition"
	}
	return fmt.Sprintf("Weighting(%d)", int(w))
}

// ParseWeighting is the inverse of [Weighting.String].
func ParseWeighting(s string) (Weighting, error) {
	switch s {
	case "trajectory":
		return ByTrajectory, nil
	case "transition":
		return ByTransition, nil
	}
	return 0, fmt.Errorf("%w: weighting is %q; want trajectory or transition", ErrOptions, s)
}

func (w Weighting) check() error {
	if w != ByTrajectory && w != ByTransition {
		return fmt.Errorf("%w: weighting is missing; want trajectory or transition", ErrOptions)
	}
	return nil
}

// Moments are the statistics of temporal-difference learning with n features,
// sums or averages over transitions:
//
//	A = rho phi (phi - gamma phi')',  b = rho R phi,  C = phi phi'.
type Moments struct {
	// N is the number of features n.
	N int
	// A is n x n, row by row.
	A []float64
	// B has length n.
	B []float64
	// C is n x n, row by row; nil when it is not wanted.
	C []float64
	// Weight is the weight of the transitions summed so far.
	Weight float64

	diff []float64 // scratch: phi - gamma phi'
}

// NewMoments returns sums of n features, all zero.
func NewMoments(n int) *Moments {
	return &Moments{N: n, A: make([]float64, n*n), B: make([]float64, n), C: make([]float64, n*n)}
}

// Reset makes all sums zero.
func (m *Moments) Reset() {
	clear(m.A)
	clear(m.B)
	clear(m.C)
	m.Weight = 0
}

// AddPerson adds what one person contributes: the mean over the person's
// episodes of the weighted sum over each one's transitions. An episode without
// usable transitions adds zero. s must have features, m.N = s.Dim.
func (m *Moments) AddPerson(s *Sample, person int, w Weighting) {
	lo, hi := s.Episodes(person)
	for e := lo; e < hi; e++ {
		m.addEpisode(s, e, w, 1/float64(hi-lo))
	}
}

func (m *Moments) addEpisode(s *Sample, episode int, w Weighting, weight float64) {
	lo, hi := s.Transitions(episode)
	if lo == hi {
		return
	}
	each := weight
	if w == ByTrajectory {
		each /= float64(hi - lo)
	}
	m.Weight += each * float64(hi-lo)
	if s.Cell != nil {
		m.addCells(s, lo, hi, each)
	} else {
		m.addDense(s, lo, hi, each)
	}
}

// addCells adds rows lo to hi-1 of one-hot features.
func (m *Moments) addCells(s *Sample, lo, hi int, weight float64) {
	n := m.N
	cell, next, reward := s.Cell, s.Next, s.Data.Reward
	for row := lo; row < hi; row++ {
		c := cell[row]
		if c == NoCell {
			continue
		}
		rw := weight * s.Ratio(row)
		line := m.A[int(c)*n : int(c)*n+n]
		line[c] += rw
		if p := next[row]; p >= 0 && cell[p] != NoCell {
			line[cell[p]] -= rw * s.Gamma(row)
		}
		m.B[c] += rw * reward[row]
		if m.C != nil {
			m.C[int(c)*n+int(c)] += weight
		}
	}
}

// addDense adds rows lo to hi-1 of dense features.
func (m *Moments) addDense(s *Sample, lo, hi int, weight float64) {
	n := m.N
	if m.diff == nil {
		m.diff = make([]float64, n)
	}
	a := blas64.General{Rows: n, Cols: n, Stride: n, Data: m.A}
	c := blas64.General{Rows: n, Cols: n, Stride: n, Data: m.C}
	b := blas64.Vector{N: n, Inc: 1, Data: m.B}
	diff := blas64.Vector{N: n, Inc: 1, Data: m.diff}
	for row := lo; row < hi; row++ {
		phi := s.Phi[row*n : row*n+n]
		x := blas64.Vector{N: n, Inc: 1, Data: phi}
		copy(m.diff, phi)
		if p := int(s.Next[row]); p >= 0 {
			g := s.Gamma(row)
			for i, y := range s.Phi[p*n : p*n+n] {
				m.diff[i] -= g * y
			}
		}
		rw := weight * s.Ratio(row)
		blas64.Ger(rw, x, diff, a)
		blas64.Axpy(rw*s.Data.Reward[row], x, b)
		if m.C != nil {
			blas64.Ger(weight, x, x, c)
		}
	}
}

// normalize turns sums into averages.
func (m *Moments) normalize() {
	for _, x := range [][]float64{m.A, m.B, m.C} {
		for i := range x {
			x[i] /= m.Weight
		}
	}
	m.Weight = 1
}

// EmpiricalMoments averages the persons' moments: the sum over persons divided
// by the sum of their weights. It fails with ErrData when no episode has a
// usable transition.
func EmpiricalMoments(s *Sample, w Weighting) (*Moments, error) {
	return empirical(s, w, NewMoments(s.Dim))
}

func empirical(s *Sample, w Weighting, m *Moments) (*Moments, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	if err := s.featured("a method of the LSTD family"); err != nil {
		return nil, err
	}
	for p := range s.Data.Persons() {
		m.AddPerson(s, p, w)
	}
	if !(m.Weight > 0) {
		return nil, fmt.Errorf("%w: no episode has a transition whose next observation is known; record the final observation of truncated episodes", ErrData)
	}
	m.normalize()
	return m, nil
}

// maxCondition is the condition number beyond which a solution keeps fewer than
// four digits.
const maxCondition = 1e12

// Solve returns the theta with (A + ridge I) theta = b. It fails with
// ErrSingular when that is not well determined, as when a tabular state was
// never visited and ridge is 0.
func (m *Moments) Solve(ridge float64) ([]float64, error) {
	if !(ridge >= 0) || math.IsInf(ridge, 0) {
		return nil, fmt.Errorf("%w: ridge is %v; want a finite number, 0 or above", ErrOptions, ridge)
	}
	n := m.N
	a := mat.NewDense(n, n, append([]float64(nil), m.A...))
	for i := range n {
		a.Set(i, i, a.At(i, i)+ridge)
	}
	return solve(a, m.B, "the features do not determine theta (a state or feature never seen, or features that depend on each other); set a ridge above 0, or use fewer features")
}

// solve returns a^-1 b, or ErrSingular with the remedy.
func solve(a *mat.Dense, b []float64, remedy string) ([]float64, error) {
	var lu mat.LU
	lu.Factorize(a)
	// The comparison also catches a NaN.
	if !(lu.Cond() <= maxCondition) {
		return nil, fmt.Errorf("%w: %s", ErrSingular, remedy)
	}
	x := mat.NewVecDense(len(b), nil)
	if err := lu.SolveVecTo(x, false, mat.NewVecDense(len(b), b)); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrSingular, remedy)
	}
	return x.RawVector().Data, nil
}
