package value

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// WISLSTD is off-policy LSTD(lambda) whose importance ratios weight and
// normalise, so that it reduces to weighted importance sampling (Mahmood, van
// Hasselt and Sutton 2014, section 4). Along an episode, from z = u = 0, V = 0,
//
//	z <- rho (gamma lambda z + phi)
//	A <- A + z (phi - gamma phi')' + (rho - 1) V    b <- b + R z + (rho - 1) u
//	V <- gamma lambda (rho V + z (phi - phi')')     u <- gamma lambda (rho u + R z)
//
// where the gamma before z is that of the step before. At lambda = 0 it is
// [LSTD]; on-policy it is LSTD(lambda).
type WISLSTD struct {
	// Lambda is the trace parameter, in [0, 1].
	Lambda float64
	// Weighting scales each episode's increments; 0 stands for ByTransition.
	Weighting Weighting
	// Ridge is added to the diagonal of A, 0 or above.
	Ridge float64
}

// Solve returns theta, of length s.Dim. It fails with ErrSingular when the data
// do not determine it. A step costs of the order of s.Dim squared.
func (l WISLSTD) Solve(s *Sample) ([]float64, error) {
	w := l.Weighting
	if w == 0 {
		w = ByTransition
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	if err := s.featured("wis-lstd"); err != nil {
		return nil, err
	}
	t, err := NewTraces(s, l.Lambda)
	if err != nil {
		return nil, err
	}
	n := s.Dim
	m := &Moments{N: n, A: make([]float64, n*n), B: make([]float64, n)}
	for p := range s.Data.Persons() {
		t.AddPerson(m, p, w)
	}
	if !(m.Weight > 0) {
		return nil, fmt.Errorf("%w: no episode has a transition whose next observation is known; record the final observation of truncated episodes", ErrData)
	}
	m.normalize()
	return m.Solve(l.Ridge)
}

// Traces computes what persons contribute to [WISLSTD]. It keeps a workspace
// and may not be shared by goroutines.
type Traces struct {
	s            *Sample
	lambda       float64
	z, u, v      []float64 // v is n x n
	phi, next    []float64
	diff, change []float64 // phi - gamma phi', phi - phi'
}

// NewTraces prepares a pass over s, which must have features, with lambda in
// [0, 1].
func NewTraces(s *Sample, lambda float64) (*Traces, error) {
	if err := s.featured("wis-lstd"); err != nil {
		return nil, err
	}
	if !(lambda >= 0 && lambda <= 1) {
		return nil, fmt.Errorf("%w: wis-lstd: lambda is %v; want 0 to 1", ErrOptions, lambda)
	}
	n := s.Dim
	vectors := make([]float64, 6*n)
	cut := func(i int) []float64 { return vectors[i*n : (i+1)*n : (i+1)*n] }
	return &Traces{
		s: s, lambda: lambda, v: make([]float64, n*n),
		z: cut(0), u: cut(1), phi: cut(2), next: cut(3), diff: cut(4), change: cut(5),
	}, nil
}

// AddPerson adds to m.A, m.B and m.Weight what one person contributes: the mean
// over the person's episodes of their increments, each scaled by w. m.C stays
// as it is.
func (t *Traces) AddPerson(m *Moments, person int, w Weighting) {
	lo, hi := t.s.Episodes(person)
	for e := lo; e < hi; e++ {
		t.addEpisode(m, e, w, 1/float64(hi-lo))
	}
}

func (t *Traces) addEpisode(m *Moments, episode int, w Weighting, weight float64) {
	lo, hi := t.s.Transitions(episode)
	if lo == hi {
		return
	}
	m.Weight += weight
	if w == ByTrajectory {
		weight /= float64(hi - lo)
	} else {
		m.Weight += weight * float64(hi-lo-1)
	}
	clear(t.z)
	clear(t.u)
	clear(t.v)
	gamma := 0.0 // z is zero before the first step
	for row := lo; row < hi; row++ {
		t.read(row)
		t.step(m, row, gamma*t.lambda, weight)
		gamma = t.s.Gamma(row)
	}
}

// read fills the features around a transition.
func (t *Traces) read(row int) {
	phi := t.s.Feature(t.phi, row)
	copy(t.diff, phi)
	copy(t.change, phi)
	copy(t.phi, phi)
	if p := int(t.s.Next[row]); p >= 0 {
		gamma := t.s.Gamma(row)
		for i, y := range t.s.Feature(t.next, p) {
			t.diff[i] -= gamma * y
			t.change[i] -= y
		}
	}
}

// step is one turn of the recursion; decay is gamma lambda of the step before.
func (t *Traces) step(m *Moments, row int, decay, weight float64) {
	n := m.N
	rho, reward := t.s.Ratio(row), t.s.Data.Reward[row]
	for i, x := range t.phi {
		// Bounded like every product of ratios here, so that nothing infinite
		// can meet a zero.
		t.z[i] = math.Max(-limit, math.Min(rho*(decay*t.z[i]+x), limit))
	}
	z := blas64.Vector{N: n, Inc: 1, Data: t.z}
	u := blas64.Vector{N: n, Inc: 1, Data: t.u}
	b := blas64.Vector{N: n, Inc: 1, Data: m.B}
	blas64.Ger(weight, z, blas64.Vector{N: n, Inc: 1, Data: t.diff}, blas64.General{Rows: n, Cols: n, Stride: n, Data: m.A})
	blas64.Axpy(weight*reward, z, b)
	if t.lambda == 0 {
		return // u and V stay zero
	}
	v := blas64.Vector{N: n * n, Inc: 1, Data: t.v}
	blas64.Axpy(weight*(rho-1), v, blas64.Vector{N: n * n, Inc: 1, Data: m.A})
	blas64.Axpy(weight*(rho-1), u, b)
	forward := t.s.Gamma(row) * t.lambda
	blas64.Scal(forward*rho, v)
	blas64.Ger(forward, z, blas64.Vector{N: n, Inc: 1, Data: t.change}, blas64.General{Rows: n, Cols: n, Stride: n, Data: t.v})
	blas64.Scal(forward*rho, u)
	blas64.Axpy(forward*reward, z, u)
}
