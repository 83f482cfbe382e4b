package overview

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// A mean weight this many standard errors from 1 is taken for a fault of the
// probabilities: a normal mean is so by chance in 6 of 100,000 data sets.
const suspicious = 4

// fewEffective is the effective sample size below which an estimate rests on a
// handful of episodes.
const fewEffective = 30

// warn says what makes the evaluation doubtful.
func (r *Report) warn(d *trajectory.Dataset, f Facts) {
	r.contradictions(f)
	r.warnWeights(d)
	if p := r.Propensity; p != nil && p.Constant && p.Max < 1 && r.Lengths.Max > 1 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("every behaviour probability is %g: right where an action was drawn at each decision; in a trial that drew an arm once for each episode the later decisions have probability 1 (data.behavior: {kind: constant_by_step, probs: [%[1]g, 1]})", p.Max))
	}
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
	if z := math.Abs(w.Mean-1) / w.StdErr; w.StdErr > 0 && z > suspicious || w.StdErr == 0 && math.Abs(w.Mean-1) > 1e-9 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the mean weight of an episode is %.4g with standard error %.2g and should be 1: the behaviour probabilities do not fit the logged actions, or the target policy does what was never tried", w.Mean, w.StdErr))
	}
	if w.EffectiveSize < fewEffective {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the effective sample size is %.3g episodes of %d: the answer would rest on a handful", w.EffectiveSize, d.Episodes()))
	}
	if w.BeyondMass > .01 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the cap on weights, %g, cuts off %.2g%% of their sum, in %.2g%% of the episodes: the estimate is pulled towards the logged policy", w.Cap, 100*w.BeyondMass, 100*w.BeyondShare))
	}
}
