package scan

import (
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// weigher fits parts of the data and computes their importance ratios. Each worker has
// its own.
type weigher struct {
	spec *spec.Spec
	rho  []float64 // memory for ratios, see room
}

// weigh is [Fit] with the number of episodes left out, and the ratios of what is kept, nil
// on-policy. Where all ratios can be had and all are of the data's own probabilities,
// nothing is left out for them, and the rows are looked at once.
func (w *weigher) weigh(d *trajectory.Dataset) (fit *trajectory.Dataset, leftOut int, rho []float64, err error) {
	s := w.spec
	off := !policy.OnPolicy(s.Public.Target)
	if off && s.Behavior == nil && s.Public.Features == nil {
		rho = w.room(d.Rows())
		if policy.CheckedRatios(rho, s.Public.Target, d) == nil {
			return d, 0, rho, nil
		}
	}
	fit, repaired, err := Fit(s, d)
	if err != nil || !off {
		return fit, repaired.Episodes, nil, err
	}
	rho = w.room(fit.Rows())
	return fit, repaired.Episodes, rho, policy.CheckedRatios(rho, s.Public.Target, fit)
}

// room is memory for n ratios, until it is called again.
func (w *weigher) room(n int) []float64 {
	if n > cap(w.rho) {
		w.rho = make([]float64, n+n/4)
	}
	return w.rho[:n]
}
