package value

import (
	"fmt"

	"gonum.org/v1/gonum/integrate/quad"
)

// nodes is the order of the Gauss-Legendre rule behind [ByTrajectory] moments.
const nodes = 96

// Moments returns the exact averages A, b, C that [EmpiricalMoments] tends to
// when a behaviour policy makes the data and ratios weight it to the target
// policy. phi holds n features for every state, row by row. The behaviour
// policy must end every episode.
//
// With [ByTransition] the averages are over the distribution of states that
// transitions start from. With [ByTrajectory] a transition weighs 1/tau, and
// since 1/tau is the integral of x^(tau-1) over [0, 1], the expected weight of
// the transitions from s to s' is
//
//	integral of mu_x(s) P(s, s') h_x(s') dx,
//
// mu_x = start'(I - xP)^-1 being the discounted visits before, and
// h_x = (I - xP)^-1 x p_end the generating function of the steps left. The
// integral is taken by a Gauss-Legendre rule of order 96.
func (m *FiniteMDP) Moments(behavior, target, phi []float64, n int, w Weighting) (*Moments, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	if err := m.check(behavior, target); err != nil {
		return nil, err
	}
	if n < 1 || len(phi) != m.States*n {
		return nil, fmt.Errorf("%w: %d feature values for %d states and %d features", ErrOptions, len(phi), m.States, n)
	}
	for i, p := range target {
		if p > 0 && behavior[i] == 0 {
			return nil, fmt.Errorf("%w: the behaviour policy never takes action %d in state %d, the target policy does", ErrOptions, i%m.Actions, i/m.Actions)
		}
	}
	out := NewMoments(n)
	x := exactSum{m: m, target: target, behavior: behavior, phi: phi, out: out}
	visits, err := m.Visits(behavior)
	if err != nil {
		return nil, err
	}
	if w == ByTransition {
		ones := make([]float64, m.States)
		for s := range ones {
			ones[s] = 1
		}
		x.add(visits, ones, 1)
		out.normalize()
		return out, nil
	}
	at, weight := make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(at, weight, 0, 1)
	for i, z := range at {
		before, err := solve(m.system(behavior, z, true), m.Start, "the behaviour policy must end every episode")
		if err != nil {
			return nil, err
		}
		end := make([]float64, m.States)
		for s := range end {
			end[s] = z * m.endProb(behavior, s)
		}
		left, err := solve(m.system(behavior, z, false), end, "the behaviour policy must end every episode")
		if err != nil {
			return nil, err
		}
		x.add(before, left, weight[i])
	}
	// The weights of an episode add up to 1; what the rule leaves is its error.
	out.normalize()
	return out, nil
}

// endProb is the probability that the episode ends on leaving s.
func (m *FiniteMDP) endProb(pi []float64, s int) float64 {
	end := 0.0
	for i := s * m.Actions; i < (s+1)*m.Actions; i++ {
		sum, _ := total(m.P[i*m.States : (i+1)*m.States])
		end += pi[i] * max(0, 1-sum)
	}
	return end
}

// exactSum adds transitions, each with its expected weight.
type exactSum struct {
	m                     *FiniteMDP
	target, behavior, phi []float64
	out                   *Moments
}

// add adds every transition from s to s' with weight scale before(s) P(s, s')
// after(s'), where after the end of an episode is 1.
func (x exactSum) add(before, after []float64, scale float64) {
	m, n := x.m, x.out.N
	for s := range m.States {
		phi := x.phi[s*n : s*n+n]
		for i := s * m.Actions; i < (s+1)*m.Actions; i++ {
			line := m.P[i*m.States : (i+1)*m.States]
			sum, _ := total(line)
			each := scale * before[s] * x.behavior[i]
			if each == 0 {
				continue
			}
			rho := x.target[i] / x.behavior[i]
			x.transition(phi, nil, each*max(0, 1-sum), rho, m.R[i])
			for next, p := range line {
				if p > 0 {
					x.transition(phi, x.phi[next*n:next*n+n], each*p*after[next], rho, m.R[i])
				}
			}
		}
	}
}

func (x exactSum) transition(phi, next []float64, weight, rho, reward float64) {
	n, o := x.out.N, x.out
	o.Weight += weight
	for i, f := range phi {
		if f == 0 {
			continue
		}
		o.B[i] += weight * rho * reward * f
		for j, g := range phi {
			o.C[i*n+j] += weight * f * g
			if next != nil {
				g -= x.m.Gamma * next[j]
			}
			o.A[i*n+j] += weight * rho * f * g
		}
	}
}
