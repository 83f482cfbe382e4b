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
	ones []float64
}

// weigh is [Fit] with the number of episodes left out, and the ratios of what is kept under
// every policy, nil on-policy; to probabilities of 1 where these are to be estimated. Where all ratios
// can be had, none of a behaviour policy, and all maps can read the rows, nothing is
// left out, and the rows are looked at once.
func (w *weigher) weigh(d *trajectory.Dataset) (fit *trajectory.Dataset, leftOut int, rho [][]float64, err error) {
	if w.spec.Behavior == nil && w.readable(d) {
		if fit, rho, err = w.ratios(d); err == nil {
			return fit, 0, rho, nil
		}
	}
	fit, repaired, err := Fit(w.spec, d)
	if err == nil {
		fit, rho, err = w.ratios(fit)
	}
	return fit, repaired.Episodes, rho, err
}

// readable tells that all maps of the question can read all rows.
func (w *weigher) readable(d *trajectory.Dataset) bool {
	public := w.spec.Public
	cells, err := public.Behavior.Map()
	for _, m := range []feature.Map{cells, public.Features} {
		if err == nil && m != nil {
			err = feature.Check(m, d)
		}
	}
	return err == nil
}

// ratios are those under every policy, until it is called again, and the data without
// probabilities that are to be estimated.
func (w *weigher) ratios(d *trajectory.Dataset) (*trajectory.Dataset, [][]float64, error) {
	bare := d
	if w.spec.Public.Behavior != nil {
		for len(w.ones) < d.Rows() {
			w.ones = append(w.ones, 1)
		}
		none, certain := *d, *d
		none.BehaviorProb, certain.BehaviorProb = nil, w.ones[:d.Rows()]
		bare, d = &none, &certain
	}
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
			return nil, nil, err
		}
	}
	return bare, out, nil
}
