package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// several plans one release for several policies: each answer is a release of
// mechanism.Pair with an equal share of mu^2, beside a histogram where its cap is
// chosen. A contrast of two values that are answers themselves is made of their
// intervals where that is expected to be narrower. docs/proofs/contrasts.md says why a
// joint bound on all of them would gain nothing, and docs/proofs/overlap.md when answers
// need no guard.
func (m DPIS) several(method string, p Public, of vouched) (draft, error) {
	if m.Diagnostics != 0 {
		return draft{}, fmt.Errorf("%w: %s: diagnostics are of one policy; with targets leave the parameter out", ErrMethod, method)
	}
	of.confounding = m.Confounding
	if p.Targets.byFlip() {
		if p.estimates() {
			return draft{}, fmt.Errorf("%w: %s: permute-and-flip spends its budget on one draw, and the probabilities of the logged actions are to be estimated, which is paid for with Gaussian noise; set select to best", ErrMethod, method)
		}
		return m.choosing(method, p, of)
	}
	return m.byLimits(method, p, of)
}

// byLimits plans all intervals that are asked for, and which policy is best by them.
func (m DPIS) byLimits(method string, p Public, of vouched) (draft, error) {
	joint, err := m.answersByNoise(method, p, of)
	if err != nil {
		return draft{}, err
	}
	p, of.behavior = joint.public, joint.behavior
	uncut := joint.guard.number == 0
	about, err := p.aboutAnswers(joint.answers, &of.weights, m.Confounding, uncut)
	if err != nil {
		return draft{}, err
	}
	about.facts["max_weight"] = joint.cap // of one policy
	if p.regime() == designed && len(p.Targets.Contrasts) > 0 && !p.Targets.unanchored {
		about.facts["anchored"] = true // or expected not to be narrower
	}
	if n := joint.together(); n > 0 {
		about.facts["values_together"] = n
		about.notes = append(about.notes, p.words("Of values that are one release nobody's episode counts in more than one."))
	}
	if slices.ContainsFunc(joint.answers, func(a quantity) bool { return a.anchor > 0 }) {
		about.notes = append(about.notes, "A contrast is measured from what outcomes are worth on average, for which it pays a small part of its budget, where that is expected to be narrower than from the middle of their range.")
	}
	if uncut {
		about.facts["max_weight"] = of.weights.largest
	}
	laplace := joint.answers[0].bounds.Laplace
	if laplace {
		about.byLaplace()
	}
	return draft{
		method: method, public: p, event: joint.event, outcome: answersAgain(joint),
		prepare:   preparedAnswers(joint, of).preparation(),
		summary:   about.and(joint.guard.summary(p, nil)),
		estimates: of.behavior != nil, lowers: true, needsEnds: of.needsEnds, onMeans: of.stepwise, uncut: uncut, laplace: laplace,
	}, nil
}

// answersFor plans all answers with releases of their own and, where that can be, with
// contrasts made of values, and takes what is expected to be narrower for those
// contrasts, or for all answers where some are one release, supposing that chosen caps are near 1 and that of the sampling error of a
// contrast half cancels.
func (m DPIS) answersFor(method string, p Public, of vouched) (quantities, error) {
	own, form, err := m.formed(method, p, of)
	if err != nil || !slices.ContainsFunc(own.answers, func(a quantity) bool { return p.Targets.fromValues(a) != nil }) {
		return own, err
	}
	form.subtract = true
	subtracted, err := m.answers(method, p, of, form)
	if err != nil {
		return own, err
	}
	mine, err := expectedAnswers(own.answers, nearCap)
	if err != nil {
		return own, err
	}
	theirs, err := expectedAnswers(subtracted.answers, nearCap)
	if err != nil {
		return own, err
	}
	apart, together := 0.0, 0.0
	for i, a := range subtracted.answers {
		switch {
		case own.answers[i].values == nil && a.values != nil:
			apart += own.answers[i].bounds.Z() * math.Hypot(mine[i].StdPrivacy, mine[i].StdSampling/2)
			together += theirs[i].HalfWidth
		case own.together() > 0: // the rest has more of the budget
			apart += mine[i].HalfWidth
			together += theirs[i].HalfWidth
		}
	}
	if apart <= together {
		return own, nil
	}
	return subtracted, nil
}

// form is how contrasts are made.
type form struct {
	subtract bool     // of values where both are answers
	both     []string // names of those of the weights of both policies, although their difference would do
}

// formed plans answers with releases of their own, and contrasts of the weights of both policies where a design makes expect
// these to be narrower, by more than forecasts tell apart, than their difference.
func (m DPIS) formed(method string, p Public, of vouched) (own quantities, f form, err error) {
	if own, err = m.answers(method, p, of, f); err != nil || !p.knows(of) {
		return own, f, err
	}
	var rival form
	for _, a := range own.answers {
		if a.apart != nil {
			rival.both = append(rival.both, a.name)
		}
	}
	if rival.both == nil {
		return own, f, nil
	}
	together, err := m.answers(method, p, of, rival)
	if err != nil {
		return own, f, err
	}
	for i, a := range own.answers {
		if a.apart == nil {
			continue
		}
		apart, told, err := a.forecast(own.public, of.weights)
		if err != nil {
			return own, f, err
		}
		both, _, err := together.answers[i].forecast(together.public, of.weights)
		if err != nil {
			return own, f, err
		}
		if told && apart > toldApart*both {
			f.both = append(f.both, a.name)
		}
	}
	if f.both != nil {
		own, err = m.answers(method, p, of, f)
	}
	return own, f, err
}

// toldApart is how many times as wide as another an interval is surely wider by its forecast, which is too
// wide where noise lets a cap be chosen.
const toldApart = 1.4

// quantities are all answers with what they cost.
type quantities struct {
	public   Public // which says how many share the budget
	answers  []quantity
	event    dp.Event
	guard    tier
	cap      float64        // on the weight of one policy
	behavior propensities   // estimates the probabilities of logged actions; nil where they are known
	practice *scalar.Bounds // how often a learned policy does otherwise than was done; nil where nobody asks
}

// answers fixes range, caps and noise of every answer, and leaves the guard out of all of
// them where it is needless and they are expected to be narrower without it.
func (m DPIS) answers(method string, p Public, of vouched, f form) (quantities, error) {
	out := p.Targets.quantities(p, of, f)
	intervals, parts := releases(out)
	p = p.sharing(intervals, parts)
	all := quantities{public: p, answers: out, guard: tier{number: 2}}
	caps, share, err := m.caps(method, p, of.weights.largest)
	if err != nil {
		return all, err
	}
	all.cap = caps.Above
	apart, apartShare, err := m.caps(method, p, math.Inf(1)) // of a difference of weights, which may be larger
	if err != nil {
		return all, err
	}
	b := p.boundsOf(of)
	for i := range out {
		q, share := &out[i], share
		if q.apart == nil {
			q.bind(p.Targets, of, b, caps.Above)
		} else {
			q.bind(p.Targets, of, b, apart.Above)
			share = apartShare
		}
		if most := q.bounds.Caps.Above; share > 0 && most > 1 {
			q.bounds.Caps.Steps, q.share = capSteps(most), share
		}
	}
	before := p.beforeAnswers()
	if all.event, err = shareAlike(*p.Privacy, &before, out, intervals); err != nil {
		return all, err
	}
	if all.behavior, err = p.propensities(method, before); err != nil {
		return all, err
	}
	all.practice = p.practiceAt(before.Practice)
	guard := &all.guard
	guard.why = m.needsGuard(p, of)
	if guard.why == "" && of.weights.largest >= narrowable && !p.Targets.constant() {
		guard.why = fmt.Sprintf("the design allows weights up to %.4g and, unless all policies are constant, it is not known in advance how many come near that: the noise for them may widen the intervals more than capping them would", of.weights.largest)
	}
	if guard.why != "" && !all.varies(m, of) {
		return all.keeping(m, of)
	}
	bare, freed, cheaper, err := p.unguarded(out, of.weights)
	if err != nil {
		return all, err
	}
	if all.varies(m, of) {
		return all.eachByDesign(m, of, bare)
	}
	kept, err := all.keeping(m, of)
	if err != nil {
		return all, err
	}
	with, without, err := p.widths(kept.answers, bare, of.weights)
	if err != nil {
		return all, err
	}
	told := ""
	if p.supposes {
		told = fmt.Sprintf(". The expected half widths add up to %.3g without a guard and to %.3g with it", without, with)
	}
	if kept.guard.why = costs(p, of, with, without); kept.guard.why != "" {
		kept.guard.why += told
		return kept, nil
	}
	all.answers, all.event, all.guard = bare, cheaper, tier{why: needless(of) + told}
	all.practice = p.practiceAt(freed.Practice)
	return all, nil
}

// keeping are answers that keep their guards, by guardedCaps.
func (a quantities) keeping(m DPIS, of vouched) (quantities, error) {
	if a.public.supposes {
		return a, nil
	}
	var err error
	for i := range a.answers {
		if q := &a.answers[i]; q.values == nil {
			w := q.weights(a.public.Targets, of.weights)
			if q.bounds.Caps, q.share, err = m.guardedCaps(a.public, w, q.bounds, q.share); err != nil {
				return a, err
			}
			q.bounds.Noise = scalar.Stages{}
		}
	}
	return a.shared(a.public.answers)
}

// shared gives every answer of so many that are releases its part of the budget.
func (a quantities) shared(releases int) (_ quantities, err error) {
	before := a.public.beforeAnswers()
	a.event, err = shareAlike(*a.public.Privacy, &before, a.answers, releases)
	a.practice = a.public.practiceAt(before.Practice)
	return a, err
}

// varies tells that it depends on the answer, and perhaps on the data, whether a guard is needless.
func (a quantities) varies(m DPIS, of vouched) bool {
	return m.needsGuard(a.public, of) == "" && m.Clip != clipPublic && a.public.varies(of)
}

// eachByDesign leaves the guard out of every answer that is narrower without it, and has a paid histogram say so where it
// depends on the data: docs/proofs/overlap.md.
func (a quantities) eachByDesign(m DPIS, of vouched, bare []quantity) (quantities, error) {
	guarded := false
	for i := range a.answers {
		q, w, by := &a.answers[i], bare[i].weights(a.public.Targets, of.weights), decided{number: 2}
		if q.values != nil {
			continue
		}
		if w.largest <= largestKnown {
			var err error
			if by, err = m.either(a.public, q.bounds, bare[i].bounds, w); err != nil {
				return a, err
			}
		}
		switch by.number {
		case 0:
			*q = bare[i]
		case 1:
			q.bounds.Uncut, q.bounds.Caps = w.uncut(), by.caps
			q.share = by.share
		case 2:
			var err error
			if q.bounds.Caps, q.share, err = m.guardedCaps(a.public, w, q.bounds, q.share); err != nil {
				return a, err
			}
		}
		q.bounds.Noise = scalar.Stages{}
		guarded = guarded || by.number > 0
		if by.number < 2 {
			a.guard = tier{number: 1, why: byHistogram(of)}
		}
	}
	if !guarded {
		a.guard = tier{why: needless(of)}
	} else if a.guard.number == 2 {
		a.guard.why = costs(a.public, of, 0, 0)
	}
	return a.shared(len(a.answers))
}

// unguarded are answers whose weights need not be cut, after what comes before.
func (p Public) unguarded(answers []quantity, w weightBound) ([]quantity, scalar.Stages, dp.Event, error) {
	t, out, before := p.Targets, slices.Clone(answers), p.beforeAnswers()
	for i := range out {
		a := &out[i]
		if t.uncorrelated(p, a, out); a.uncorrelated {
			continue
		}
		a.share, a.bounds.Noise = 0, scalar.Stages{}
		a.bounds.Caps = scalar.ClipRanges{Above: a.weights(t, w).largest}
		if a.kind == OfContrast && !t.unanchored {
			a.anchor = anchorShare
		}
		a.bounds.Uncut = a.weights(t, w).uncut()
	}
	event, err := shareAlike(*p.Privacy, &before, out, len(out))
	return out, before, event, err
}

// widths are the half widths that are expected of all releases with and without a guard: as plans forecast them, but for
// releases that suppose weights of which nothing is known.
func (p Public) widths(guarded, bare []quantity, w weightBound) (with, without float64, err error) {
	most := 0.0
	for i, a := range bare {
		if a.values != nil {
			continue
		}
		of, half, narrow := a.weights(p.Targets, w), 0.0, 0.0
		if p.supposes {
			if half, err = guarded[i].bounds.ExpectedGuarded(of.law); err == nil {
				narrow, err = a.bounds.ExpectedUncut()
			}
			half, narrow = half*a.bounds.Range.Width(), narrow*a.bounds.Range.Width()
		} else if half, err = guarded[i].bounds.Foresee(of.law, of.scatter); err == nil {
			narrow, err = a.bounds.Foresee(of.law, of.scatter)
		}
		if err != nil {
			return 0, 0, err
		}
		with, without, most = with+half, without+narrow, most+p.Returns().Width()/2
	}
	if !p.supposes && without >= most/widened { // all of the range is expected either way, and a guard stays
		with = min(with, without)
	}
	return with, without, nil
}

// constant tells that every policy always takes the same action, or is the logged one: a
// weight is then 0 or what the design says, and the law of weights is no guess.
func (t *Targets) constant() bool {
	return !slices.ContainsFunc(t.Policies, func(a NamedPolicy) bool {
		_, constant := a.Policy.(policy.Constant)
		return !constant && !policy.OnPolicy(a.Policy)
	})
}
