package value

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/rl/policy"
)

// DRContributions writes what every person contributes to the doubly robust
// estimate: the mean over the person's episodes of V_0, where backward from
// V_tau = 0
//
//	V_t = sum_a pi(a|S_t) Q(S_t, a) + rho_t (R_t + gamma V_{t+1} - Q(S_t, A_t)).
//
// dst has length s.Data.Persons(). A truncated episode ends like a terminated
// one: what is estimated is the return to the end of the record.
//
// It fails with ErrOptions when the policy does not give distributions over
// actions, or when q does not fit the sample.
func DRContributions(dst []float64, s *Sample, q QModel) error {
	s.perPerson("DRContributions", dst)
	r, err := newRecursion(s, q)
	if err != nil {
		return err
	}
	s.eachPerson(func(p, e int, weight float64) {
		dst[p] += weight * r.episode(e)
	})
	return nil
}

// DR is the doubly robust estimate of J, in the unit of the return: the mean of
// the persons' contributions (Jiang and Li 2016, equation 10; Thomas and
// Brunskill 2016). It is unbiased for any q that was not fitted to the data, and
// its variance falls as q nears the action values of the target policy.
func DR(s *Sample, q QModel) (float64, error) {
	dst, _, err := s.contributions()
	if err != nil {
		return 0, err
	}
	if err := DRContributions(dst, s, q); err != nil {
		return 0, err
	}
	return mean(dst), nil
}

// recursion is the workspace of the doubly robust recursion.
type recursion struct {
	s     *Sample
	q     QModel
	bound policy.Bound
	probs []float64
	value []float64
}

func newRecursion(s *Sample, q QModel) (*recursion, error) {
	if s.Data.Action == nil {
		return nil, fmt.Errorf("%w: dr needs the logged actions", ErrOptions)
	}
	if table, ok := q.(StateActionValues); ok {
		if err := table.check(s); err != nil {
			return nil, err
		}
	}
	b, err := s.Policy.Bind(s.Data)
	if err != nil {
		return nil, err
	}
	if b.Actions() == 0 {
		return nil, fmt.Errorf("%w: dr needs the target policy's probability of every action; give the policy as uniform, constant, table or softmax, map action_probs for the logged one, or use is, pdis or wis", ErrOptions)
	}
	return &recursion{
		s: s, q: q, bound: b,
		probs: make([]float64, b.Actions()),
		value: make([]float64, q.Actions()),
	}, nil
}

// episode returns V_0 of one episode.
func (r *recursion) episode(e int) float64 {
	lo, hi := r.s.Rows(e)
	v := 0.0
	for row := hi - 1; row >= lo; row-- {
		v = r.step(row, v)
	}
	return v
}

// step is one turn of the recursion, kept within limit so that no infinity can
// meet a ratio or a discount of zero.
func (r *recursion) step(row int, after float64) float64 {
	s := r.s
	rho := s.Ratio(row)
	// A row that the policy cannot judge has zero probabilities and rho = 0, and
	// so the value 0.
	r.bound.Distribution(r.probs, row)
	r.q.Q(r.value, s, row)
	guess, taken := 0.0, 0.0
	for a, p := range r.probs[:min(len(r.probs), len(r.value))] {
		guess += p * r.value[a]
	}
	if a := int(s.Data.Action[row]); a >= 0 && a < len(r.value) {
		taken = r.value[a]
	}
	v := guess + rho*(s.Data.Reward[row]+s.Gamma(row)*after-taken)
	return math.Max(-limit, math.Min(v, limit))
}
