package evaluate_test

import (
	"github.com/discreet-rl/discreet/evaluate"
)

// held tells whether all intervals of a release hold their true values, and all lifts.
func (w abWorld) held(r *evaluate.Release) (all, lifts bool) {
	all, lifts = true, true
	k := 0
	in := func(a evaluate.PolicyAnswer, x float64) bool {
		return a.Estimate.Interval[0] <= x && x <= a.Estimate.Interval[1]
	}
	if len(r.Answers) == 2*len(w.shares)-1 {
		for arm := range w.shares {
			all = all && in(r.Answers[k], w.truth(arm))
			k++
		}
	}
	for arm := 1; arm < len(w.shares); arm++ {
		all = all && in(r.Answers[k], w.truth(arm)-w.truth(0))
		k++
	}
	for i, l := range r.Experiment.Lifts {
		x := w.truth(i+1)/w.truth(0) - 1
		lifts = lifts && l.Lower <= x && (l.Upper == nil || x <= *l.Upper)
	}
	return all, lifts
}
