package evaluate

import (
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// together marks the values of policies that always take one action, and another one each, of which a person's episode has a
// weight above 0 in one: their sums are one release. There are two or more of them, or none.
func (t *Targets) together(all []quantity) {
	var members []int
	taken := map[int]bool{}
	for i, q := range all {
		c, constant := t.Policies[q.of[0].policy].Policy.(policy.Constant)
		if q.kind == OfPolicy && constant && !taken[c.Actions()] {
			members, taken[c.Actions()] = append(members, i), true
		}
	}
	if t.separate || len(members) < 2 {
		return
	}
	for _, i := range members {
		all[i].together = true
	}
}

// uncorrelated makes a contrast of two values that are one release their difference, where the errors of these are
// uncorrelated: ratios of sums to which a person of one episode adds in one at most. It is an interval of its own, so that a contrast whose
// ends follow from those of both values stays that.
func (t *Targets) uncorrelated(p Public, q *quantity, all []quantity) {
	values := t.fromValues(*q)
	if q.values != nil || values == nil || p.Episodes != 1 && p.Horizon != 1 {
		return
	}
	for _, i := range values {
		if !all[i].together || !all[i].bounds.SelfNormalised {
			return
		}
	}
	q.values, q.uncorrelated = values, true
}

// together is how many values are one release.
func (a quantities) together() (n int) {
	for _, q := range a.answers {
		if q.together {
			n++
		}
	}
	return n
}

// valuesByLaplace plans values that are one release, and differences that follow from them, with Laplace noise; it has no answers
// where something else is asked for, or squares do not follow from sums.
func (m DPIS) valuesByLaplace(p Public, of vouched) (quantities, error) {
	t := p.Targets
	answers := t.quantities(p, of, form{})
	intervals, parts := len(answers), 1
	p = p.sharing(intervals, parts)
	var bounds []scalar.Bounds
	for i := range answers {
		q := &answers[i]
		q.bind(t, of, p.boundsOf(of), of.weights.largest)
		switch t.uncorrelated(p, q, answers); {
		case q.together:
			if q.bounds = p.unguardedBy(q.bounds, q.weights(t, of.weights)); !q.bounds.TwoValued {
				return quantities{}, nil
			}
			bounds = append(bounds, q.bounds)
		case !q.uncorrelated:
			return quantities{}, nil
		}
	}
	event, err := scalar.EventTogether(bounds)
	return quantities{public: p, answers: answers, event: event, cap: of.weights.largest, guard: tier{why: needless(of)}}, err
}

// together draws the noise of those that are one release.
func (c contributions) together(answers []quantity, estimates []*scalar.Estimate, src *noise.Source) error {
	var places []int
	var bounds []scalar.Bounds
	var xz []scalar.Numbers
	for i, a := range answers {
		if a.together {
			k := a.of[0].policy
			places, bounds, xz = append(places, i), append(bounds, a.bounds), append(xz, c.xz[2*k], c.xz[2*k+1])
		}
	}
	if places == nil {
		return nil
	}
	found, err := scalar.RunTogether(bounds, xz, src)
	for i, e := range found {
		estimates[places[i]] = e
	}
	return err
}

// both is the error of a difference of two with errors: the squares add up, or the errors themselves of two that may move against
// each other.
func (q quantity) both(first, second float64) float64 {
	if q.uncorrelated {
		return math.Hypot(first, second)
	}
	return first + second
}

// subtracted is the difference of two values: where both intervals hold, its own does. Of errors that are
// uncorrelated the squares add up, unless one of the two intervals allows for missing mass, or for wrong probabilities.
func subtracted(a quantity, first, second *scalar.Estimate) *Release {
	a.uncorrelated = a.uncorrelated && first.Missing.Unguarded && second.Missing.Unguarded
	e := &Estimate{
		Value:      first.Value - second.Value,
		Interval:   [2]float64{first.Interval[0] - second.Interval[1], first.Interval[1] - second.Interval[0]},
		Confidence: a.bounds.DifferenceConfidence(), StdSampling: a.both(first.StdSampling, second.StdSampling), Sampling: Paid,
		StdPrivacy: math.Hypot(first.StdPrivacy, second.StdPrivacy),
	}
	if a.uncorrelated { // before either was brought into the range, where errors are what they are
		value := e.Value + first.Beyond - second.Beyond
		within := a.bounds.Public.Returns
		low := max(within.Min, value-math.Hypot(first.Margins[0], second.Margins[1]))
		high := min(within.Max, value+math.Hypot(first.Margins[1], second.Margins[0]))
		if low < high { // else one of the intervals misses
			e.Value, e.Interval, e.Confidence = min(max(value, low), high), [2]float64{low, high}, a.bounds.AloneConfidence()
		}
	}
	half := a.bounds.Z() * math.Hypot(e.StdSampling, e.StdPrivacy)
	e.Clipping = [2]float64{max(e.Value-half-e.Interval[0], 0), max(e.Interval[1]-e.Value-half, 0)}
	share, sd := (first.Missing.Share+second.Missing.Share)/2, (first.Missing.SD+second.Missing.SD)/2
	return &Release{estimate: e, Diagnostics: map[string]any{"missing_mass": map[string]float64{"share": share, "share_std": sd}, "of_values": true}}
}
