package scan

import (
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// weigher fits parts of the data and computes their importance ratios. Each worker has
// its own.
type weigher struct {
	spec *spec.Spec
	rho  [][]float64 // memory for ratios, by policy
}

// weigh is [Fit] with the number of episodes left out, and the ratios of what is kept under
// every policy, nil on-policy; none where probabilities are to be estimated. Where all ratios
// can be had, all are of the data's own probabilities and the features can be read, nothing is
// left out, and the rows are looked at once.
func (w *weigher) weigh(d *trajectory.Dataset) (fit *trajectory.Dataset, leftOut int, rho [][]float64, err error) {
	s := w.spec
	if s.Behavior == nil && s.Public.Behavior == nil && (s.Public.Features == nil || feature.Check(s.Public.Features, d) == nil) {
		if rho, err = w.ratios(d); err == nil {
			return d, 0, rho, nil
		}
	}
	fit, repaired, err := Fit(s, d)
	if err != nil || s.Public.Behavior != nil {
		return fit, repaired.Episodes, nil, err
	}
	rho, err = w.ratios(fit)
	return fit, repaired.Episodes, rho, err
}

// ratios are those under every policy, until it is called again.
func (w *weigher) ratios(d *trajectory.Dataset) ([][]float64, error) {
	policies := w.spec.Policies()
	if w.rho == nil {
		w.rho = make([][]float64, len(policies))
	}
	out := make([][]float64, len(policies))
	for i, target := range policies {
		if policy.OnPolicy(target) {
			continue
		}
		if n := d.Rows(); n > cap(w.rho[i]) || w.rho[i] == nil {
			w.rho[i] = make([]float64, n, n+n/4)
		}
		out[i] = w.rho[i][:d.Rows()]
		if err := policy.CheckedRatios(out[i], target, d); err != nil {
			return nil, err
		}
	}
	return out, nil
}
