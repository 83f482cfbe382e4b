package value

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// GTD2 is gradient temporal-difference learning (Sutton et al. 2009) as
// stochastic gradient descent and ascent on the saddle point (Liu et al. 2015)
//
//	min over theta, max over w of  w'(b - A theta) - w'C w / 2,
//
// one person, drawn uniformly, a step. It starts at zero.
type GTD2 struct {
	// Steps is the number of steps N, at least 1.
	Steps int
	// StepTheta and StepW are the constant step sizes, above 0.
	StepTheta, StepW float64
	// Weighting averages the transitions of an episode; it must be chosen.
	Weighting Weighting
	// Average returns the mean of the second half of the iterates instead of the
	// last one (Polyak and Juditsky 1992).
	Average bool
}

// SolveSeeded is [GTD2.Solve] with persons drawn from a seed.
func (g GTD2) SolveSeeded(s *Sample, seed uint64) ([]float64, error) {
	return g.Solve(s, rand.New(rand.NewPCG(seed, 0)))
}

// Solve returns theta, of length s.Dim, with persons drawn by rng.
func (g GTD2) Solve(s *Sample, rng *rand.Rand) ([]float64, error) {
	if err := g.check(s); err != nil {
		return nil, err
	}
	n := s.Dim
	theta, w, sum := make([]float64, n), make([]float64, n), make([]float64, n)
	gradient := NewSaddle(s, g.Weighting)
	for i := range g.Steps {
		dTheta, dW := gradient.Person(theta, w, rng.IntN(s.Data.Persons()))
		for j := range theta {
			theta[j] -= g.StepTheta * dTheta[j]
			w[j] -= g.StepW * dW[j]
		}
		if g.Average && i >= g.Steps/2 {
			for j, x := range theta {
				sum[j] += x
			}
		}
	}
	if g.Average {
		for j := range theta {
			theta[j] = sum[j] / float64(g.Steps-g.Steps/2)
		}
	}
	for _, x := range theta {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%w: gtd2 diverged; choose smaller steps", ErrOptions)
		}
	}
	return theta, nil
}

func (g GTD2) check(s *Sample) error {
	if err := g.Weighting.check(); err != nil {
		return err
	}
	if err := s.featured("gtd2"); err != nil {
		return err
	}
	if s.Data.Persons() == 0 {
		return fmt.Errorf("%w: there are no persons", ErrData)
	}
	if g.Steps < 1 || !(g.StepTheta > 0) || !(g.StepW > 0) {
		return fmt.Errorf("%w: gtd2: %d steps of size %v and %v; want all above 0", ErrOptions, g.Steps, g.StepTheta, g.StepW)
	}
	return nil
}

// Saddle computes persons' gradients at the saddle point, from the transitions:
// no A_i is formed, and a transition costs of the order of s.Dim, or a few
// operations with one-hot features. It keeps a workspace and may not be shared
// by goroutines.
type Saddle struct {
	s          *Sample
	weighting  Weighting
	dTheta, dW []float64
	phi, next  []float64
	touched    []int32 // one-hot: coordinates that may not be zero
	marked     []bool  // one-hot: whether a coordinate is in touched
}

// NewSaddle prepares gradients of s, which must have features.
func NewSaddle(s *Sample, w Weighting) *Saddle {
	n := s.Dim
	g := &Saddle{s: s, weighting: w, dTheta: make([]float64, n), dW: make([]float64, n)}
	if s.Cell != nil {
		g.marked = make([]bool, n)
	} else {
		g.phi, g.next = make([]float64, n), make([]float64, n)
	}
	return g
}

// Person returns the gradient of one person, the mean over the person's
// episodes of
//
//	dTheta = -A_i'w,  dW = A_i theta + C_i w - b_i,
//
// to be subtracted from theta and from w. Both slices belong to g and are
// overwritten by the next call. theta and w have length s.Dim.
func (g *Saddle) Person(theta, w []float64, person int) (dTheta, dW []float64) {
	g.reset()
	lo, hi := g.s.Episodes(person)
	for e := lo; e < hi; e++ {
		from, to := g.s.Transitions(e)
		each := 1 / float64(hi-lo)
		if g.weighting == ByTrajectory {
			each /= float64(to - from)
		}
		for row := from; row < to; row++ {
			if g.s.Cell != nil {
				g.addCell(theta, w, row, each)
			} else {
				g.addDense(theta, w, row, each)
			}
		}
	}
	return g.dTheta, g.dW
}

// Touched returns, with one-hot features, the coordinates at which the last
// gradient may differ from zero, each once; nil with dense features.
func (g *Saddle) Touched() []int32 { return g.touched }

func (g *Saddle) reset() {
	if g.marked == nil {
		clear(g.dTheta)
		clear(g.dW)
		return
	}
	for _, c := range g.touched {
		g.dTheta[c], g.dW[c], g.marked[c] = 0, 0, false
	}
	g.touched = g.touched[:0]
}

func (g *Saddle) touch(c int32) {
	if !g.marked[c] {
		g.marked[c] = true
		g.touched = append(g.touched, c)
	}
}

func (g *Saddle) addCell(theta, w []float64, row int, weight float64) {
	c := g.s.Cell[row]
	if c == NoCell {
		return
	}
	g.touch(c)
	rho := g.s.Ratio(row)
	delta := theta[c] - g.s.Data.Reward[row]
	g.dTheta[c] -= weight * rho * w[c]
	if p := g.s.Next[row]; p >= 0 && g.s.Cell[p] != NoCell {
		next, gamma := g.s.Cell[p], g.s.Gamma(row)
		g.touch(next)
		delta -= gamma * theta[next]
		g.dTheta[next] += weight * rho * gamma * w[c]
	}
	g.dW[c] += weight * (rho*delta + w[c])
}

func (g *Saddle) addDense(theta, w []float64, row int, weight float64) {
	phi := g.s.Feature(g.phi, row)
	rho := g.s.Ratio(row)
	var next []float64
	gamma := 0.0
	if p := int(g.s.Next[row]); p >= 0 {
		next, gamma = g.s.Feature(g.next, p), g.s.Gamma(row)
	}
	phiW, delta := 0.0, -g.s.Data.Reward[row]
	for i, x := range phi {
		phiW += x * w[i]
		delta += x * theta[i]
	}
	for i, y := range next {
		delta -= gamma * y * theta[i]
	}
	for i, x := range phi {
		g.dTheta[i] -= weight * rho * phiW * x
		g.dW[i] += weight * (rho*delta + phiW) * x
	}
	for i, y := range next {
		g.dTheta[i] += weight * rho * phiW * gamma * y
	}
}
