package spec

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// estimator is the estimator that a configuration names, or brings.
func estimator(m config.Method) (evaluate.Method, evaluate.Estimator, error) {
	switch {
	case m.Sums != nil:
		return evaluate.Method{Name: m.Name, Private: true}, evaluate.OfSums(m.Sums), nil
	case evaluate.Foreign(m.Name):
		return evaluate.Method{}, nil, fmt.Errorf("%w: method.name is %q, a method of its author's program: this program does not hold its code; ask from the program that does", evaluate.ErrMethod, m.Name)
	}
	named, err := evaluate.MethodNamed(m.Name)
	if err != nil {
		return named, nil, err
	}
	e, err := evaluate.New(m.Name, m.Params)
	return named, e, err
}

// readForeign has the data read as a method of somebody else needs them: actions and, where the
// data have them, their probabilities, and the observations that its outline names.
func (s *Spec) readForeign(m config.Method) error {
	o, err := m.Sums.Outline(s.Public)
	if err != nil {
		return fmt.Errorf("%w: %w", evaluate.ErrMethod, err)
	}
	if o.Method != m.Name {
		return fmt.Errorf("%w: method.name is %q, and the method calls itself %q; give both one name", evaluate.ErrMethod, m.Name, o.Method)
	}
	s.Reading.Optional |= trajectory.Action | trajectory.BehaviorProb
	for _, c := range o.Columns {
		if !slices.Contains(s.Reading.Observations, c) {
			s.Reading.Observations = append(s.Reading.Observations, c)
		}
	}
	return s.Reading.Validate()
}
