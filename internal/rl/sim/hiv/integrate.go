package hiv

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
	"github.com/discreet-rl/discreet/rl/sim"
)

// Method says how the equations are integrated over a step.
type Method int

// The methods.
const (
	// Adaptive is Dormand and Prince's pair with error control.
	Adaptive Method = iota
	// RungeKutta is the classical method of order 4 with Substeps equal steps.
	RungeKutta
	// ExplicitEuler takes Substeps equal steps.
	ExplicitEuler
)

// defaultTolerance is the relative tolerance of Adaptive. The absolute one is
// smaller by absolutePart, in cells or copies per millilitre: under both drugs a
// healthy patient's virus falls below 1e-6, and grows back from there.
const (
	defaultTolerance = 1e-8
	absolutePart     = 1e-6
)

// integrator carries a state over one step of treatment.
type integrator struct {
	method   Method
	substeps int
	days     float64

	p                  *Parameters
	epsilon1, epsilon2 float64
	adaptive           *xmath.Dopri5
	k                  [4]State
	mid                State
}

func newIntegrator(o Options) (*integrator, error) {
	in := &integrator{method: o.Method, substeps: o.Substeps, days: o.Days}
	switch o.Method {
	case Adaptive:
		if o.Substeps != 0 {
			return nil, fmt.Errorf("%w: hiv: the adaptive method chooses its own steps; leave substeps out", sim.ErrOptions)
		}
		in.adaptive = xmath.NewDopri5(components, func(dst []float64, _ float64, y []float64) {
			in.p.Derivative(dst, y, in.epsilon1, in.epsilon2)
		})
		in.adaptive.RelTol, in.adaptive.AbsTol = o.Tolerance, o.Tolerance*absolutePart
	case RungeKutta, ExplicitEuler:
		if o.Substeps < 1 || o.Substeps > maxSubsteps {
			return nil, fmt.Errorf("%w: hiv: substeps is %d; want 1 to %d with a method of fixed steps", sim.ErrOptions, o.Substeps, maxSubsteps)
		}
	default:
		return nil, fmt.Errorf("%w: hiv: unknown method %d", sim.ErrOptions, o.Method)
	}
	return in, nil
}

// maxSubsteps keeps a mistyped number from running for ever.
const maxSubsteps = 1 << 20

// step carries s over the days of one step.
func (in *integrator) step(s *State) error {
	var err error
	switch in.method {
	case Adaptive:
		err = in.adaptive.Integrate(s[:], 0, in.days)
	case RungeKutta:
		in.rungeKutta(s)
	case ExplicitEuler:
		in.euler(s)
	}
	if err != nil {
		return fmt.Errorf("hiv: %w", err)
	}
	for _, v := range s {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("hiv: %w: %d steps of fixed length are too few", xmath.ErrIntegration, in.substeps)
		}
	}
	return nil
}

func (in *integrator) euler(s *State) {
	h := in.days / float64(in.substeps)
	k := &in.k[0]
	for range in.substeps {
		in.p.Derivative(k[:], s[:], in.epsilon1, in.epsilon2)
		for i := range s {
			s[i] += h * k[i]
		}
	}
}

func (in *integrator) rungeKutta(s *State) {
	h := in.days / float64(in.substeps)
	k := &in.k
	for range in.substeps {
		in.p.Derivative(k[0][:], s[:], in.epsilon1, in.epsilon2)
		in.slope(&k[1], s, &k[0], h/2)
		in.slope(&k[2], s, &k[1], h/2)
		in.slope(&k[3], s, &k[2], h)
		for i := range s {
			s[i] += h / 6 * (k[0][i] + 2*k[1][i] + 2*k[2][i] + k[3][i])
		}
	}
}

// slope is the derivative at s + h k.
func (in *integrator) slope(dst, s, k *State, h float64) {
	for i := range s {
		in.mid[i] = s[i] + h*k[i]
	}
	in.p.Derivative(dst[:], in.mid[:], in.epsilon1, in.epsilon2)
}
