package overview

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/evaluate"
)

// A mean weight this many standard errors from 1 is taken for a fault of the
// probabilities: a normal mean is so by chance in 6 of 100,000 data sets.
const suspicious = 4

// Percent writes a share in percent, with three significant digits and no exponent.
func Percent(share float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(100*share, 'g', 3, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64) + "%"
}

// Warnings say what makes the evaluation doubtful, in words.
func (w *Watch) Warnings() ([]string, error) {
	if err := w.estimate(); err != nil {
		return nil, err
	}
	told := append(w.contradictions(), w.cuts()...)
	if len(w.weights) > 0 {
		told = append(told, w.overlap(0)...)
	}
	if w.facts.Estimated == nil {
		if len(w.weights) > 0 {
			told = append(told, w.inverse.warnings(w.facts.name)...)
		}
		told = append(told, w.drawnOnce("")...)
	} else {
		told = append(told, w.drawnOnce("once: true in data.behavior")...)
		told = append(told, w.leaves()...)
	}
	for i := 1; i < len(w.weights); i++ {
		for _, one := range w.overlap(i) {
			if !slices.Contains(told, one) {
				told = append(told, "policy "+w.facts.Others[i-1].Name+": "+one)
			}
		}
	}
	o, err := w.Outcome()
	return append(told, o.warnings()...), err
}

// contradictions are public facts that the data do not fit.
func (w *Watch) contradictions() []string {
	var told []string
	f := w.facts
	switch n := int64(w.persons); {
	case f.Persons == 0:
	case f.Lower && n < f.Persons:
		told = append(told, fmt.Sprintf("problem.persons says at least %d and there are %d: evaluate refuses them", f.Persons, n))
	case !f.Lower && n != f.Persons:
		told = append(told, fmt.Sprintf("problem.persons says %d and there are %d: evaluate refuses them", f.Persons, n))
	}
	for _, b := range []struct {
		what    string
		within  *evaluate.Range
		outside int
	}{{"reward", f.Reward, w.rewards}, {"return", f.Return, w.returns}} {
		if b.outside > 0 {
			told = append(told, fmt.Sprintf("problem.%s says [%g, %g] and %d lie outside: they will be clipped, which biases the answer", b.what, b.within.Min, b.within.Max, b.outside))
		}
	}
	if f.OneReward && f.Return == nil && f.Horizon != 1 {
		told = append(told, "only the last reward of an episode is not 0, and problem.return is not given: intervals allow for a reward at every decision; give it the range of one outcome (and 0, if problem.gamma is below 1)")
	}
	if w.unlisted > 0 {
		told = append(told, fmt.Sprintf("method.discrete says that every return is one of ends, and %d are not: they are missing mass", w.unlisted))
	}
	return told
}

// cuts say what is not known of episodes that were cut off.
func (w *Watch) cuts() []string {
	if w.cut == 0 || w.facts.Outcome != nil {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d episodes were cut off before decision %d, the last of the problem: what would have followed is missing mass in every interval, and a value function does not allow for it; where the problem itself ends there set problem.end: terminated",
		w.cut, w.episodes, w.facts.Horizon)}
}

// overlap says what is wrong with the weights of a policy.
func (w *Watch) overlap(policy int) []string {
	of := w.weights[policy].describe(w.facts.Cap)
	if w.episodes == 0 {
		return nil
	}
	var told []string
	if of.Max == 0 {
		told = append(told, "no episode has a weight above 0: in none did the target policy take all logged actions; check the numbers of the actions, or evaluate a policy closer to the logged one")
		return told
	}
	if z := math.Abs(of.Mean-1) / of.StdErr; of.StdErr > 0 && z > suspicious || of.StdErr == 0 && math.Abs(of.Mean-1) > 1e-9 {
		told = append(told, fmt.Sprintf("the mean weight of an episode is %.4g with standard error %.2g and should be 1: the behaviour probabilities do not fit the logged actions or are rounded (data.behavior.precision), or the target policy takes actions that were never logged", of.Mean, of.StdErr))
	}
	if of.EffectiveSize < evaluate.FewEffective {
		told = append(told, fmt.Sprintf("the effective sample size is %.3g episodes of %d: the answer would rest on very few of them", of.EffectiveSize, w.episodes))
	}
	if of.BeyondMass > .01 {
		told = append(told, fmt.Sprintf("the cap on weights, %.4g, cuts off %s of their sum, in %s of the episodes: the interval of dp-is, dp-pdis, dp-wis, dp-dr, dp-distribution and dp-survival allows for what is cut, as missing mass; a value function is biased by it", of.Cap, Percent(of.BeyondMass), Percent(of.BeyondShare)))
	}
	return told
}
