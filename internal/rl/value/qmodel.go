package value

import "fmt"

// QModel is a guess of the action values Q(s, a), in the unit of the return, of
// the target policy. Doubly robust estimates stay unbiased whatever it says, as
// long as it was not fitted to the same data.
type QModel interface {
	// Actions is the number of actions that the model covers, numbered from 0;
	// the guess for any other action is 0.
	Actions() int
	// Q writes the value of each action in the state of a row to dst, of length
	// Actions.
	Q(dst []float64, s *Sample, row int)
}

// ActionValues is a model without states: element a is Q(., a).
type ActionValues []float64

// Actions implements [QModel].
func (q ActionValues) Actions() int { return len(q) }

// Q implements [QModel].
func (q ActionValues) Q(dst []float64, _ *Sample, _ int) { copy(dst, q) }

// StateActionValues is a table over numbered states: element s*K + a is Q(s, a)
// for K actions. A row without a state number has Q = 0. The sample's features
// must be over numbered states.
type StateActionValues struct {
	// K is the number of actions.
	K int
	// Values has K numbers a state.
	Values []float64
}

// Actions implements [QModel].
func (q StateActionValues) Actions() int { return q.K }

// Q implements [QModel].
func (q StateActionValues) Q(dst []float64, s *Sample, row int) {
	state := int(s.State[row])
	if state == int(NoCell) {
		clear(dst)
		return
	}
	copy(dst, q.Values[state*q.K:(state+1)*q.K])
}

// check refuses a table that does not fit the states of s.
func (q StateActionValues) check(s *Sample) error {
	if err := s.finite("a table of action values"); err != nil {
		return err
	}
	if q.K < 1 || len(q.Values) != s.States*q.K {
		return fmt.Errorf("%w: %d action values for %d states and %d actions", ErrOptions, len(q.Values), s.States, q.K)
	}
	return nil
}

// ShrunkenActionMeans fits [ActionValues] to the rewards of a sample of one-row
// episodes (a contextual bandit's log): the mean reward of each of actions
// actions, drawn to the overall mean as if prior further rows had shown it,
//
//	Q(a) = (sum of rewards of a + prior mean) / (rows of a + prior).
//
// prior is above 0. The rows of a person share the weight of one. A guess fitted
// to the data that it then serves makes the doubly robust estimate slightly
// biased, by the order of 1/persons.
func ShrunkenActionMeans(s *Sample, actions int, prior float64) (ActionValues, error) {
	if s.Data.Action == nil {
		return nil, fmt.Errorf("%w: action means need the logged actions", ErrOptions)
	}
	if !(prior > 0) || actions < 1 {
		return nil, fmt.Errorf("%w: action means: prior is %v and actions %d; want both above 0", ErrOptions, prior, actions)
	}
	if s.Data.Rows() != s.Data.Episodes() || s.Data.Persons() == 0 {
		return nil, fmt.Errorf("%w: action means need episodes of one row", ErrOptions)
	}
	sum, count := make([]float64, actions), make([]float64, actions)
	total, outside := 0.0, 0
	s.eachPerson(func(_, e int, weight float64) {
		row := s.Data.EpisodeStart[e]
		a := int(s.Data.Action[row])
		total += weight * s.Data.Reward[row]
		if a < 0 || a >= actions {
			outside++
			return
		}
		sum[a] += weight * s.Data.Reward[row]
		count[a] += weight
	})
	if outside > 0 {
		return nil, fmt.Errorf("%w: action means: an action is outside 0 to %d; raise the number of actions", ErrOptions, actions-1)
	}
	overall := total / float64(s.Data.Persons())
	q := make(ActionValues, actions)
	for a := range q {
		q[a] = (sum[a] + prior*overall) / (count[a] + prior)
	}
	return q, nil
}
