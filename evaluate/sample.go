package evaluate

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// sampleFor validates the data against the target policy and the features, for
// the curator, and builds what the estimators work on. Of a private run it asks
// nothing of all rows together: to fail there would tell of them.
func sampleFor(d *trajectory.Dataset, p Public) (*value.Sample, error) {
	var rho []float64
	if !policy.OnPolicy(p.Target) {
		rho = make([]float64, d.Rows())
		if err := policy.CheckedRatios(rho, p.Target, d); err != nil {
			return nil, err
		}
	}
	return sampleWith(rho, d, p)
}

// sampleWith is sampleFor where the ratios are known, which is off-policy.
func sampleWith(rho []float64, d *trajectory.Dataset, p Public) (*value.Sample, error) {
	s, err := value.NewSample(d, value.Options{Gamma: p.Gamma, Features: p.Features, Policy: p.Target, Ratios: rho})
	if err != nil {
		return nil, err
	}
	if p.Privacy == nil && s.Rho != nil && !slices.ContainsFunc(s.Rho, func(r float64) bool { return r > 0 }) {
		return nil, fmt.Errorf("%w: the target policy takes none of the logged decisions, so the data say nothing about it; check the numbers of the actions, or evaluate a policy closer to the logged one", ErrData)
	}
	return s, nil
}

// statesOf spreads theta over the states.
func statesOf(f feature.Finite, theta []float64) []float64 {
	values := make([]float64, f.States())
	for state := range values {
		values[state] = theta[f.Cell(state)]
	}
	return values
}
