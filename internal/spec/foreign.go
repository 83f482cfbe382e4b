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

// foreignReading is how data are read for a method of somebody else: with actions and, where the data
// have them, their probabilities, and with the observations that its outline names.
func foreignReading(o trajectory.Options, m config.Method, p evaluate.Public) (trajectory.Options, error) {
	outline, err := m.Sums.Outline(p)
	if err != nil {
		return o, fmt.Errorf("%w: %w", evaluate.ErrMethod, err)
	}
	if outline.Method != m.Name {
		return o, fmt.Errorf("%w: method.name is %q, and the method calls itself %q; give both one name", evaluate.ErrMethod, m.Name, outline.Method)
	}
	o.Optional |= trajectory.Action | trajectory.BehaviorProb
	for _, c := range outline.Columns {
		if !slices.Contains(o.Observations, c) {
			o.Observations = append(o.Observations, c)
		}
	}
	return o, o.Validate()
}
