package value

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// FiniteMDP is a known decision problem with S states and K actions, for exact
// values by dynamic programming. Policies are tables of S x K probabilities,
// row by row.
type FiniteMDP struct {
	// States and Actions are S and K.
	States, Actions int
	// P[(s*K+a)*S+s'] is the probability of going to s' after action a in s. What
	// is missing to 1 ends the episode.
	P []float64
	// R[s*K+a] is the mean reward of action a in s, independent of what follows.
	R []float64
	// Start holds the S probabilities of the first state.
	Start []float64
	// Gamma is the discount, in [0, 1].
	Gamma float64
}

// slack is the rounding allowed in sums of probabilities.
const slack = 1e-9

// Validate checks shapes and probabilities.
func (m *FiniteMDP) Validate() error {
	s, k := m.States, m.Actions
	if s < 1 || k < 1 || len(m.P) != s*k*s || len(m.R) != s*k || len(m.Start) != s {
		return fmt.Errorf("%w: finite MDP: %d states, %d actions, %d transition probabilities, %d rewards, %d start probabilities do not fit",
			ErrOptions, s, k, len(m.P), len(m.R), len(m.Start))
	}
	if !(m.Gamma >= 0 && m.Gamma <= 1) {
		return fmt.Errorf("%w: finite MDP: gamma is %v; want 0 to 1", ErrOptions, m.Gamma)
	}
	for i := range s * k {
		if sum, ok := total(m.P[i*s : i*s+s]); !ok || sum > 1+slack {
			return fmt.Errorf("%w: finite MDP: transition probabilities of state %d, action %d add up to %v; want numbers of 0 or above and at most 1 together", ErrOptions, i/k, i%k, sum)
		}
		if math.IsNaN(m.R[i]) || math.IsInf(m.R[i], 0) {
			return fmt.Errorf("%w: finite MDP: reward of state %d, action %d is %v", ErrOptions, i/k, i%k, m.R[i])
		}
	}
	if sum, ok := total(m.Start); !ok || math.Abs(sum-1) > slack {
		return fmt.Errorf("%w: finite MDP: start probabilities add up to %v; want 1", ErrOptions, sum)
	}
	return nil
}

// total sums probabilities and reports whether none is negative or NaN.
func total(p []float64) (sum float64, ok bool) {
	ok = true
	for _, x := range p {
		ok = ok && x >= 0
		sum += x
	}
	return sum, ok
}

func (m *FiniteMDP) check(policies ...[]float64) error {
	if err := m.Validate(); err != nil {
		return err
	}
	for _, pi := range policies {
		if len(pi) != m.States*m.Actions {
			return fmt.Errorf("%w: policy has %d probabilities for %d states and %d actions", ErrOptions, len(pi), m.States, m.Actions)
		}
		for s := range m.States {
			if sum, ok := total(pi[s*m.Actions : (s+1)*m.Actions]); !ok || math.Abs(sum-1) > slack {
				return fmt.Errorf("%w: policy probabilities of state %d add up to %v; want 1", ErrOptions, s, sum)
			}
		}
	}
	return nil
}

// Values returns V(s) of a policy for every state: the solution of
// V = R_pi + gamma P_pi V.
func (m *FiniteMDP) Values(pi []float64) ([]float64, error) {
	if err := m.check(pi); err != nil {
		return nil, err
	}
	reward := make([]float64, m.States)
	for s := range m.States {
		for a := range m.Actions {
			reward[s] += pi[s*m.Actions+a] * m.R[s*m.Actions+a]
		}
	}
	return solve(m.system(pi, m.Gamma, false), reward, "without discount the policy must end every episode")
}

// ActionValues returns Q(s, a) of a policy, element s*K+a.
func (m *FiniteMDP) ActionValues(pi []float64) ([]float64, error) {
	v, err := m.Values(pi)
	if err != nil {
		return nil, err
	}
	q := make([]float64, m.States*m.Actions)
	for i := range q {
		q[i] = m.R[i]
		for next, p := range m.P[i*m.States : (i+1)*m.States] {
			q[i] += m.Gamma * p * v[next]
		}
	}
	return q, nil
}

// Value returns J, the mean of V over the start states.
func (m *FiniteMDP) Value(pi []float64) (float64, error) {
	v, err := m.Values(pi)
	if err != nil {
		return 0, err
	}
	j := 0.0
	for s, p := range m.Start {
		j += p * v[s]
	}
	return j, nil
}

// Visits returns the expected number of visits to every state in one episode
// under a policy, without discount. The policy must end every episode.
func (m *FiniteMDP) Visits(pi []float64) ([]float64, error) {
	if err := m.check(pi); err != nil {
		return nil, err
	}
	return solve(m.system(pi, 1, true), m.Start, "the policy must end every episode")
}

// system is I - x P_pi, or its transpose.
func (m *FiniteMDP) system(pi []float64, x float64, transposed bool) *mat.Dense {
	n := m.States
	a := mat.NewDense(n, n, nil)
	for s := range n {
		a.Set(s, s, 1)
	}
	for s := range n {
		for i := s * m.Actions; i < (s+1)*m.Actions; i++ {
			for next, p := range m.P[i*n : i*n+n] {
				r, c := s, next
				if transposed {
					r, c = next, s
				}
				a.Set(r, c, a.At(r, c)-x*pi[i]*p)
			}
		}
	}
	return a
}
