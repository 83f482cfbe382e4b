package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/value"
)

// WISLSTD is off-policy LSTD(lambda) with weighted importance sampling, without
// privacy ([value.WISLSTD]).
type WISLSTD struct {
	// Lambda is the trace parameter, in [0, 1].
	Lambda float64 `json:"lambda,omitempty"`
	// Weighting is "transition" (the default) or "trajectory".
	Weighting string `json:"weighting,omitempty"`
	// Ridge is added to the diagonal of A, 0 or above.
	Ridge float64 `json:"ridge,omitempty"`
}

// Plan implements [Estimator].
func (m WISLSTD) Plan(p Public) (*Plan, error) {
	weighting, err := weightingNamed("wis-lstd", m.Weighting)
	if err != nil {
		return nil, err
	}
	return bootstrapping(reference("wis-lstd", p.asking(m), func(s *value.Sample) (*Release, error) {
		theta, err := value.WISLSTD{Lambda: m.Lambda, Weighting: weighting, Ridge: m.Ridge}.Solve(s)
		return function(s, theta, err)
	}))
}

// weightingNamed reads a weighting that is by transition where nothing is said.
func weightingNamed(method, name string) (value.Weighting, error) {
	if name == "" {
		return value.ByTransition, nil
	}
	w, err := value.ParseWeighting(name)
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrMethod, method, err)
	}
	return w, nil
}
