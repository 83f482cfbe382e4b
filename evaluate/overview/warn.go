package overview

import (
	"fmt"
	"math"
	"strconv"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// A mean weight this many standard errors from 1 is taken for a fault of the
// probabilities: a normal mean is so by chance in 6 of 100,000 data sets.
const suspicious = 4

// Percent writes a share in percent, with three significant digits and no exponent.
func Percent(share float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(100*share, 'g', 3, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64) + "%"
}

// warn says what makes the evaluation doubtful.
func (r *Report) warn(d *trajectory.Dataset, f Facts) error {
	r.contradictions(f)
	r.warnWeights(d)
	if f.Estimated == nil || d.Action == nil {
		r.warnOnce(d, d.BehaviorProb, "")
		return nil
	}
	shares, err := f.Estimated.Shares(d)
	if err == nil {
		r.warnOnce(d, shares, "once: true in data.behavior")
		r.warnLeft(d, f.Estimated.Once)
	}
	return err
}

// contradictions are public facts that the data do not fit.
func (r *Report) contradictions(f Facts) {
	switch n := int64(r.Persons); {
	case f.Persons == 0:
	case f.Lower && n < f.Persons:
		r.Warnings = append(r.Warnings, fmt.Sprintf("problem.persons says at least %d and there are %d", f.Persons, n))
	case !f.Lower && n != f.Persons:
		r.Warnings = append(r.Warnings, fmt.Sprintf("problem.persons says %d and there are %d", f.Persons, n))
	}
	for _, b := range []struct {
		what string
		Bounded
	}{{"reward", r.Rewards}, {"return", r.Returns}} {
		if b.Outside > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("problem.%s says [%g, %g] and %d lie outside: they will be clipped, which moves the answer", b.what, b.Range.Min, b.Range.Max, b.Outside))
		}
	}
}

// warnWeights says what is wrong with the overlap.
func (r *Report) warnWeights(d *trajectory.Dataset) {
	w := r.Weights
	if w == nil || d.Episodes() == 0 {
		return
	}
	if w.Max == 0 {
		r.Warnings = append(r.Warnings, "no episode has a weight above 0: the target policy does what was never done, and the data say nothing about it; check the numbers of the actions, or evaluate a policy closer to the logged one")
		return
	}
	if z := math.Abs(w.Mean-1) / w.StdErr; w.StdErr > 0 && z > suspicious || w.StdErr == 0 && math.Abs(w.Mean-1) > 1e-9 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the mean weight of an episode is %.4g with standard error %.2g and should be 1: the behaviour probabilities do not fit the logged actions, or the target policy does what was never tried", w.Mean, w.StdErr))
	}
	if w.EffectiveSize < evaluate.FewEffective {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the effective sample size is %.3g episodes of %d: the answer would rest on a handful", w.EffectiveSize, d.Episodes()))
	}
	if w.BeyondMass > .01 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the cap on weights, %.4g, cuts off %s of their sum, in %s of the episodes: the interval of dp-is, dp-pdis, dp-wis and dp-dr allows for what is cut, as missing mass; a value function is biased by it", w.Cap, Percent(w.BeyondMass), Percent(w.BeyondShare)))
	}
}
