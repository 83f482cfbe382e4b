package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/survival"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// What the curator may state of censoring.
const (
	independentCensoring   = "independent"
	unanticipatedCensoring = "unanticipated"
	anyCensoring           = "any"
)

// weighted tells whether persons count by their weights under target policies, in place of each
// in one arm, as they do where limits are asked for too.
func (p Public) weighted() bool {
	o := p.Outcome
	return p.Target != nil && !p.onPolicy() || o != nil && (o.Censoring == anyCensoring || o.Censoring == unanticipatedCensoring)
}

// policyTables are the policies of which survival is asked: each has the cells of an arm.
type policyTables struct {
	of []policy.Policy
	// most is the number of tables that a person may add to with a positive weight.
	most int
	// largest is the cap on the weight of a person under a policy other than the logged one.
	largest float64
	// levels are the policies whose own mean is an answer.
	levels []int
	// why curves cannot be had; "" where they can.
	why string
}

// tables is how many cells a person adds to at most, with 1 in each at most.
func (q *survivalQuestion) tables() int {
	if q.policies == nil {
		return 1
	}
	return q.policies.most
}

// askPolicies makes each target policy an arm.
func (q *survivalQuestion) askPolicies(method string, m DPSurvival) error {
	p := q.public
	if !p.weighted() {
		if m.MaxWeight != 0 {
			return fmt.Errorf("%w: %s: max_weight caps the weights of a target policy, and there is none; leave it out", ErrMethod, method)
		}
		return nil
	}
	if _, err := weightCap(method, p, m.MaxWeight); err != nil {
		return err
	}
	t, a, arms := &policyTables{}, p.targets(), []string(nil)
	for _, n := range a.Policies {
		arms, t.of = append(arms, n.Name), append(t.of, n.Policy)
	}
	for _, x := range a.estimands() {
		switch {
		case x.kind == OfContrast:
			q.Pairs = append(q.Pairs, [2]int{x.of[0].policy, x.of[1].policy})
		case len(x.of) == 1:
			t.levels = append(t.levels, x.of[0].policy)
		default:
			return fmt.Errorf("%w: %s: %q is neither of one policy nor a difference of two; leave it out", ErrMethod, method, x.name)
		}
	}
	switch {
	case !a.alone:
		q.arms = arms
	case !p.onPolicy():
		q.arms = []string{"target policy"}
	}
	t.most = overlapping(t.of)
	q.policies, q.Arms, q.Together, q.Overlap = t, len(t.of), len(t.levels)+len(q.Pairs), t.most > 1
	q.Persons = float64(p.Persons)
	t.largest, t.why = p.curvesNeed(m, t.of)
	if t.why == "" {
		return nil
	}
	o := p.Outcome
	q.Form = survival.Followed
	if p.decisions() == 1 || o.Censoring == independentCensoring || o.Censoring == unanticipatedCensoring {
		q.Form = survival.Lived
	}
	switch {
	case o.Strata != nil:
		return fmt.Errorf("%w: data.outcome.strata is for curves, and only limits can be had: %s; leave strata out", ErrPublic, t.why)
	case p.guarantee().Adjacency == dp.AddRemoveOne:
		return fmt.Errorf("%w: only limits can be had: %s; they divide by the number of persons, which add_remove_one hides; use replace_one", ErrPublic, t.why)
	}
	return nil
}

// curvesNeed is the largest weight, and what curves lack; "" where they can be had.
func (p Public) curvesNeed(m DPSurvival, of []policy.Policy) (largest float64, why string) {
	logged := true
	for _, pi := range of {
		logged = logged && policy.OnPolicy(pi)
	}
	w := p.weightsOf(false)
	if largest = w.largest; logged {
		largest = 1
	}
	d := p.Design
	switch c := p.Outcome.Censoring; {
	case c == anyCensoring:
		why = "data.outcome.censoring is any"
	case c == unanticipatedCensoring:
		why = "data.outcome.censoring is unanticipated, which does not say that it is independent of the time to the event"
	case p.decisions() > 1 && c != independentCensoring:
		why = "nothing states that nobody left because of the decision that was to come, and that censoring is independent of the time to the event (data.outcome.censoring: independent)"
	case logged:
	case d == nil:
		why = "no public design bounds the weights (data.behavior: {source: design})"
	case !d.Supported:
		why = "the design does not ensure that every action of the policy was drawn with positive probability"
	case !(largest <= largestKnown):
		why = "the weights that the design allows are too large"
	case m.MaxWeight != 0 && m.MaxWeight < largest:
		why = fmt.Sprintf("max_weight is %.4g, and the design allows weights up to %.4g", m.MaxWeight, largest)
	}
	return largest, why
}

// capWeights fixes the largest weights, of limits by a public rule: a cap puts its size times
// the noise on a sum, and cuts the less the larger it is.
func (q *survivalQuestion) capWeights(asked float64) {
	if q.policies == nil {
		return
	}
	t := *q.policies // questions that differ in their noise share it
	q.policies = &t
	if t.why != "" {
		rule := defaultMaxWeight
		if q.SD > 0 {
			rule = max(1, min(rule, math.Sqrt(q.Persons/(2*q.SD))))
		}
		if asked != 0 {
			rule = asked
		}
		t.largest = min(t.largest, rule)
	}
	for _, pi := range t.of {
		w := t.largest
		if policy.OnPolicy(pi) {
			w = 1
		}
		q.Weights = append(q.Weights, w)
	}
}

// mayMiss tells whether limits have to allow for weight that was never logged, or is above the cap.
func (q survivalQuestion) mayMiss() bool {
	t, d := q.policies, q.public.Design
	if t == nil || t.why == "" || !slices.ContainsFunc(t.of, func(pi policy.Policy) bool { return !policy.OnPolicy(pi) }) {
		return false
	}
	return d == nil || !d.Supported || t.largest < q.public.weightsOf(false).largest
}

// lowerCap says by how low a cap limits are expected to say something, where by theirs they are not.
func (q survivalQuestion) lowerCap(g *OutcomeGuess, expected Expected) []string {
	const most = 0.9 // of the public range
	if q.policies == nil || q.policies.why == "" || expected.HalfWidth < most*expected.Constant {
		return nil
	}
	for cap := math.Exp2(math.Ceil(math.Log2(q.policies.largest)) - 1); cap >= 1; cap /= 2 {
		lower := q
		lower.Weights = nil
		lower.capWeights(cap)
		mean := lower.first(lower.Estimate(lower.guessed(g)))
		if half := (mean.Upper - mean.Lower) / 2; half < most*expected.Constant {
			return []string{fmt.Sprintf("Noise is in proportion to max_weight, here %.4g, and is expected to leave hardly an answer. With max_weight %g the expected half width is %.4g, without missing mass: a lower cap cuts off more weight.", q.policies.largest, cap, half)}
		}
	}
	return nil
}

// overlapping is how many of the policies may take one action in one state: constant ones only
// where they are the same.
func overlapping(of []policy.Policy) int {
	others, same := 0, 0
	for i, a := range of {
		if _, constant := a.(policy.Constant); !constant {
			others++
			continue
		}
		alike := 0
		for _, b := range of[:i+1] {
			if _, constant := b.(policy.Constant); constant && !disjoint(a, b) {
				alike++
			}
		}
		same = max(same, alike)
	}
	return others + same
}

// weightedPersons are what persons add: by person the cells of all policies, and the shares there, nil where
// all are 1.
type weightedPersons struct {
	each   int
	at     []int
	shares []float64
}

// shares are what every person adds, whose cell under the first policy is known.
func (q survivalQuestion) shares(d *trajectory.Dataset, at []int) (w weightedPersons, err error) {
	k := q.Arms
	w = weightedPersons{k, make([]int, len(at)*k), make([]float64, len(at)*k)}
	rho := make([]float64, d.Rows())
	for i, pi := range q.policies.of {
		if err := policy.CheckedRatios(rho, pi, d); err != nil {
			return w, err
		}
		for person, cell := range at {
			place := person*k + i
			switch {
			case cell < 0 || cell == q.Unknown() && i > 0:
				w.at[place] = -1
			case cell == q.Unknown():
				w.at[place], w.shares[place] = cell, 1 // at most: no weight is known
			default:
				w.at[place] = cell + q.Exit(i, 0, 0, 0)
				w.shares[place] = min(q.weightOf(d, person, rho)/q.Weights[i], 1)
			}
		}
	}
	return w, nil
}

// weightOf is the product of the ratios of the decisions of a person's trajectory.
func (q survivalQuestion) weightOf(d *trajectory.Dataset, person int, rho []float64) float64 {
	e := d.PersonStart[person]
	from, to := d.EpisodeStart[e], d.EpisodeStart[e+1]
	w := 1.0
	for _, r := range rho[from:min(to, from+int(q.public.decisions()))] {
		w *= r
	}
	return w
}

// add adds persons to a sum.
func (w weightedPersons) add(h tally) func(person int) error {
	at, shares := make([]int, 0, w.each), make([]float64, 0, w.each)
	return func(person int) error {
		at, shares = at[:0], shares[:0]
		for i := person * w.each; i < (person+1)*w.each; i++ {
			share := 1.0
			if w.shares != nil {
				share = w.shares[i]
			}
			if share > 0 { // of as many as there are tables at most
				at, shares = append(at, w.at[i]), append(shares, share)
			}
		}
		return h.AddShares(at, shares)
	}
}

// underPolicies is what survival under target policies rests on, or is safe from.
func (q survivalQuestion) underPolicies() string {
	t, several := q.policies, q.public.decisions() > 1
	rests := "right probabilities of the logged actions"
	if t.why != "" {
		left := "Who was censored counts as alive until then"
		if q.Form == survival.Followed {
			left = "Who was censored counts for nothing, since they may have left because of the decision that was to come"
		} else if several {
			left += ", as the curator states that nobody left because of the decision that was to come (data.outcome.censoring)"
		}
		return fmt.Sprintf("Limits, not estimates, of survival under the policy: %s. %s; whatever became of them afterwards, and whatever weight is missing or above the cap of %.4g, the limits hold with 95%%, given %s.", t.why, left, t.largest, rests)
	}
	within := ""
	if q.Strata > 0 {
		within = ", within each stratum"
	}
	stated := ""
	if several {
		stated = " That, and that nobody left because of the decision that was to come, is stated by the curator (data.outcome.censoring: independent)."
	}
	return fmt.Sprintf("Assumes that under the policy censoring is independent of the time to the event%s: whoever left at some time would, under the policy, have fared like those who stayed. Where the policy treats persons unlike each other, leaving must not depend on what it goes by, nor on the treatment. If it does the curves are wrong, and nothing in this release shows it.%s It assumes %s. By the design no weight exceeds %.4g.", within, stated, rests, t.largest)
}
