package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/evaluate/internal/survival"
	"github.com/discreet-rl/discreet/rl/policy"
)

// release is all that follows from the noisy cells.
func (q survivalQuestion) release(noisy []float64) (*Release, error) {
	found := q.Estimate(noisy)
	s := &Survival{Time: q.public.Outcome.words(), Ends: q.Ends, Until: q.Ends[q.Question.Until-1]}
	r := &Release{Survival: s, Diagnostics: map[string]any{cellsName: noisy}}
	if mean, sd, wrong := q.refuted(noisy); wrong {
		r.Diagnostics["weights_refuted"] = map[string]float64{"mean_weight": mean, "mean_weight_std": sd}
		r.first = fmt.Sprintf(refutedNote, mean, sd)
		found = q.Refuted(found, func(arm int) bool { return !policy.OnPolicy(q.policies.of[arm]) })
	}
	if n := q.intervals(); n > 1 {
		r.JointConfidence = scalar.Confidence(1)
	}
	for i, a := range found.Arms {
		arm := SurvivalArm{Name: q.arms[i], AtRisk: a.AtRisk, Survival: curveOf(a.Curve), MissingShare: a.MissingShare,
			RestrictedMean: *q.estimate(a.Mean, 1), Median: q.median(a.Curve)}
		for c, b := range a.Incidence {
			arm.Incidence = append(arm.Incidence, CauseIncidence{q.public.Outcome.Causes[c].Name, curveOf(b)})
		}
		s.Arms = append(s.Arms, arm)
		r.Notes = append(r.Notes, q.fewNote(i, a)...)
	}
	for _, i := range q.levels() {
		name, kind := q.level(i)
		r.Answers = append(r.Answers, PolicyAnswer{Name: name, Kind: kind, Estimate: q.estimate(found.Arms[i].JointMean, q.intervals())})
	}
	for _, d := range found.Differences {
		name := q.difference(d)
		s.Differences = append(s.Differences, SurvivalDifference{name, curveOf(d.Curve)})
		r.Answers = append(r.Answers, PolicyAnswer{Name: name, Kind: OfContrast, Estimate: q.estimate(d.Mean, q.intervals())})
	}
	return r, nil
}

// refuted tells whether weights under a policy are too large for right probabilities of the
// logged actions. Where the number of persons is not public nothing tells.
func (q survivalQuestion) refuted(noisy []float64) (mean, sd float64, wrong bool) {
	if q.policies == nil || q.public.guarantee().Adjacency == dp.AddRemoveOne {
		return 0, 0, false
	}
	for i, pi := range q.policies.of {
		if policy.OnPolicy(pi) {
			continue
		}
		mean, sampling, noise := q.MeanWeight(noisy, i)
		if b := (scalar.Bounds{Laplace: q.scale > 0}); scalar.Refuted(mean, b.Refuting(sampling, noise), q.Persons) {
			return mean, math.Hypot(sampling, noise), true
		}
	}
	return 0, 0, false
}

func curveOf(b survival.Band) Curve { return Curve(b) }

// levels are the arms whose own mean is an answer.
func (q survivalQuestion) levels() (all []int) {
	switch {
	case q.policies != nil:
		return q.policies.levels
	case q.Control >= 0:
		return nil
	}
	for i := range q.Arms {
		all = append(all, i)
	}
	return all
}

// level names the answer about an arm.
func (q survivalQuestion) level(arm int) (name string, kind AnswerKind) {
	switch {
	case !q.public.targets().alone:
		return q.arms[arm], OfPolicy
	case q.Arms == 1:
		return valueName, OfPolicy
	}
	return q.arms[arm], OfGroup
}

// estimate is a restricted mean, one of so many that hold together.
func (q survivalQuestion) estimate(m survival.Mean, together int) *Estimate {
	half := m.Z * math.Hypot(m.StdSampling, m.StdPrivacy)
	return &Estimate{
		Value: m.Value, Interval: [2]float64{m.Lower, m.Upper}, Confidence: scalar.Confidence(together),
		StdSampling: m.StdSampling, StdPrivacy: m.StdPrivacy, Sampling: q.public.sampling(),
		Clipping: [2]float64{max(m.Value-half-m.Lower, 0), max(m.Upper-m.Value-half, 0)},
	}
}

// median is the time at which a curve falls to one half, and those at which its limits do; nil
// where nothing is known of it but that it is above 0, or beyond the last bin.
func (q survivalQuestion) median(b survival.Band) *Median {
	// The first bin by whose end a curve is at most one half; nil if none is.
	falls := func(curve []float64) *int {
		for j, v := range curve {
			if v <= 0.5 {
				return &j
			}
		}
		return nil
	}
	lower := falls(b.Lower)
	if lower == nil {
		return nil
	}
	m := &Median{Lower: q.Ends[*lower]}
	if q.Grouped { // somewhere in the bin
		m.Lower = 0
		if *lower > 0 {
			m.Lower = q.Ends[*lower-1]
		}
	}
	if j := falls(b.Values); j != nil {
		at := q.Ends[*j]
		if q.Grouped { // where the line between the ends of the bin meets one half
			start, before := 0.0, 1.0
			if *j > 0 {
				start, before = q.Ends[*j-1], b.Values[*j-1]
			}
			at = start + (at-start)*(before-0.5)/max(before-b.Values[*j], 1e-12)
		}
		m.Value = &at
	}
	if j := falls(b.Upper); j != nil {
		m.Upper = &q.Ends[*j]
	}
	if m.Upper == nil && m.Lower == 0 && m.Value == nil {
		return nil
	}
	return m
}

// fewNote says where an arm's curve ends before the bins do.
func (q survivalQuestion) fewNote(i int, a survival.Arm) []string {
	if a.Steady == q.Bins || q.Form != survival.Curves {
		return nil
	}
	at := 0.0
	if a.Steady > 0 {
		at = q.Ends[a.Steady-1]
	}
	text := fmt.Sprintf("%s: after time %.6g too few persons are at risk for the noise, and nothing is estimated there; the limits of the curve, and the interval of the restricted mean, allow for every course afterwards.", q.arms[i], at)
	if a.Steady == 0 {
		text = fmt.Sprintf("%s: too few persons are at risk for the noise, and nothing is estimated of this arm; its intervals are the whole public range.", q.arms[i])
	}
	return []string{text}
}

// about is what is known beforehand.
func (m DPSurvival) about(q survivalQuestion) (summary, error) {
	p := q.public
	total := q.Ends[q.Question.Until-1]
	s := summary{facts: q.facts(), heading: []string{p.words(q.independence())}}
	found := q.Estimate(q.guessed(m.Guess))
	mean := q.first(found)
	s.expected.Constant = total / 2
	if len(found.Differences) > 0 {
		s.expected.Constant = total
	}
	if answers := q.expected(found); len(answers) > 1 {
		s.facts["answers"] = answers
	}
	s.expected.StdPrivacy, s.expected.HalfWidth = mean.StdPrivacy, (mean.Upper-mean.Lower)/2
	s.notes = q.meaning()
	if q.Missing {
		s.notes = append(s.notes, p.words("Persons whose outcome cannot be used are counted with noise, and intervals allow for whatever became of them."))
	}
	if p.groups().some() {
		s.notes = append(s.notes, p.words("An arm is a group of persons that by.column names. A person whose arm is a number that by.values does not list is in no arm, and nothing is about them. A person whose arm cannot be read, or is a word that is not listed, may be of any arm."))
	}
	if m.Guess == nil {
		s.notes = append(s.notes, p.words("The expected half width supposes that half of the persons would have an event by the last bin, that half would leave by then for other reasons, and that every outcome can be used; method.guess takes a better guess."))
	}
	s.notes = append(s.notes, q.lowerCap(m.Guess, s.expected)...)
	if t := q.policies; q.mayMiss() {
		s.outlook = append(s.outlook, fmt.Sprintf("Expected half widths are without missing mass: weight that was never logged, or is above the cap of %.4g, lengthens limits, up to the whole range.", t.largest))
	}
	return s, nil
}

// first is the first difference, or the mean of the first arm.
func (q survivalQuestion) first(found survival.Result) survival.Mean {
	if len(found.Differences) > 0 {
		return found.Differences[0].Mean
	}
	return found.Arms[0].Mean
}

// meaning says what the numbers are.
func (q survivalQuestion) meaning() (notes []string) {
	p, total := q.public, q.Ends[q.Question.Until-1]
	counted := "the end of its bin of time, before the censoring of the same bin"
	if q.Grouped {
		counted = "the middle of its bin of time; intervals allow for every order of events and censoring within a bin"
	}
	if q.policies != nil {
		notes = append(notes, p.words("Numbers at risk are sums of weights, and every curve is that of its policy. A person whose weight is below the largest counts in intervals as that share of one with the largest, which allows for more error than there is."))
	}
	notes = append(notes, p.words(fmt.Sprintf("The restricted mean is the mean of the %s, or of %g where that is less. An event counts at %s.", p.Outcome.words(), total, counted)))
	notes = append(notes, "Limits of a curve hold for all times together with 95% probability, for each curve by itself; the restricted mean and the median that stand with an arm hold by themselves.")
	if len(p.Outcome.Causes) > 1 {
		notes = append(notes, "Causes compete: survival is without an event of any cause, and the incidence of a cause is the probability of that event before any other.")
	}
	return notes
}

// expected is what is known beforehand of differences, or of several arms.
func (q survivalQuestion) expected(found survival.Result) (all []ExpectedAnswer) {
	total := q.Ends[q.Question.Until-1]
	add := func(name string, kind AnswerKind, least float64, m survival.Mean) {
		all = append(all, ExpectedAnswer{Name: name, Kind: kind, Range: Range{least, total}, StdPrivacy: m.StdPrivacy, HalfWidth: (m.Upper - m.Lower) / 2})
	}
	for _, d := range found.Differences {
		add(q.difference(d), OfContrast, -total, d.Mean)
	}
	for _, i := range q.levels() {
		name, kind := q.level(i)
		add(name, kind, 0, found.Arms[i].JointMean)
	}
	return all
}

// difference names that of an arm from the control.
func (q survivalQuestion) difference(d survival.Difference) string {
	return q.arms[d.Arm] + contrastSign + q.arms[d.Control]
}

// facts are those of the question that a release repeats.
func (q survivalQuestion) facts() map[string]any {
	f := map[string]any{"until": q.Ends[q.Question.Until-1]}
	if q.Control >= 0 {
		f["control"] = q.arms[q.Control]
	}
	if t := q.policies; t != nil {
		f["form"], f["max_weight"] = "curves", t.largest
		if q.Form != survival.Curves {
			f["form"] = "limits"
		}
	}
	return f
}

// independence is what no data can show, and all rests on.
func (q survivalQuestion) independence() string {
	if q.policies != nil {
		return q.underPolicies()
	}
	within := "arm"
	if q.Strata > 0 {
		within = "stratum of each arm"
	}
	return "Assumes that censoring is independent of the time to the event within each " + within + ": persons who left at some time would have fared like those who stayed. If they left because they did badly, or well, the curves are wrong, and nothing in this release shows it. It describes survival under the treatment that was given; arms can be compared as causes where chance assigned them."
}

// guessed are the cells that are expected of a guess, with equal arms but for guessed sizes, and
// equal strata.
func (q survivalQuestion) guessed(g *OutcomeGuess) []float64 {
	return q.guessedOf(g, func(arm int) float64 {
		if q.policies != nil { // weights are 1 on average
			return float64(q.public.Persons) / q.Weights[arm]
		}
		return float64(q.public.groups().size(arm, q.public.Persons))
	})
}

// guessedOf are those of so many persons in each arm.
func (q survivalQuestion) guessedOf(g *OutcomeGuess, size func(arm int) float64) []float64 {
	guess := OutcomeGuess{Events: 0.5, Dropout: 0.5}
	if g != nil {
		guess = *g
	}
	event := -math.Expm1(math.Log1p(-guess.Events) / float64(q.Bins))
	leave := -math.Expm1(math.Log1p(-guess.Dropout) / float64(q.Bins))
	cells := make([]float64, q.Cells())
	strata := max(q.Strata, 1)
	for i := range q.Arms {
		persons := size(i)
		for k := range strata {
			left := persons / float64(strata)
			for j := range q.Bins {
				for c := range q.Causes {
					cells[q.Exit(i, k, j, c+1)] = left * event / float64(q.Causes)
				}
				left *= 1 - event
				cells[q.Exit(i, k, j, 0)] = left * leave
				left *= 1 - leave
			}
			cells[q.End(i, k)] = left
		}
	}
	return cells
}
