package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/experiment"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// results are what noisy sums say.
type results struct {
	answers    []PolicyAnswer
	experiment Experiment
}

// results are answers, in the order of arms: means, then differences from the control.
func (q *experimentQuestion) results(sums experimentSums) (results, error) {
	by := q.public.By
	out := results{experiment: Experiment{Persons: map[string]float64{}}}
	absent := 0.0
	if sums.unassigned != nil {
		absent = sums.unassigned[0]
		out.experiment.Unassigned = &absent
	}
	own, err := q.reading(q.outcomes+q.adjusted, absent) // with one stage, whichever it is
	if err != nil {
		return out, err
	}
	adjusted, adjustment := own, experiment.Adjustment{}
	outcomes, differing := sums.outcomes, sums.outcomes
	if q.adjusted != 0 {
		if adjustment, err = q.adjustment(sums.moments); err != nil {
			return out, err
		}
		out.experiment.Slope = new(float64)
		*out.experiment.Slope = adjustment.Slope * q.public.Returns().Width() / q.within.Width()
		if adjusted, err = q.reading(q.adjusted, absent); err != nil {
			return out, err
		}
		differing = sums.adjusted
	}
	if q.adjusted != 0 && q.outcomes != 0 {
		if own, err = q.reading(q.outcomes, absent); err != nil {
			return out, err
		}
		if adjustment.Slope == 0 { // both stages are about the same
			own = together(own, adjusted, outcomes, differing, &outcomes)
			adjusted, differing = own, outcomes
		}
	}
	if outcomes == nil {
		outcomes = differing
	}
	levels, others := q.levelsOf(own, outcomes), q.levelsOf(adjusted, differing)
	counts, sd := make([]float64, len(by.Of)), 0.0
	for i, a := range by.Of {
		counts[i], sd = levels[i].Count, levels[i].CountSD
		out.experiment.Persons[a.Name] = counts[i]
	}
	if q.shares != nil {
		chance := experiment.Chance(counts, sd, q.shares)
		out.experiment.AllocationP, out.experiment.Mismatch = &chance, chance < mismatchAlarm
	}
	means := make([]experiment.Interval, len(by.Of))
	for i, l := range levels {
		means[i] = q.mean(l)
		if q.levels {
			out.answers = append(out.answers, q.answer(by.Of[i].Name, OfGroup, means[i], l.StdSampling, l.StdPrivacy, l))
		}
	}
	for i, l := range others {
		if i == q.control {
			continue
		}
		d := adjusted.Difference(l, others[q.control])
		scale := adjustment.Width() * q.public.Returns().Width()
		between := experiment.Interval{Value: scale * d.Value, Lower: scale * d.Lower, Upper: scale * d.Upper}
		name := by.Of[i].Name + contrastSign + by.Of[q.control].Name
		out.answers = append(out.answers, q.answer(name, OfContrast, q.cut(between), d.StdSampling*adjustment.Width(), d.StdPrivacy*adjustment.Width(), l))
		if q.levels && q.public.Returns().Min >= 0 {
			out.experiment.Lifts = append(out.experiment.Lifts, liftOf(name, experiment.Lift(means[i], means[q.control], q.cut(between))))
		}
	}
	return out, nil
}

// together is the reading of the sums of two stages of the same, weighted by how exact they are.
func together(a, b experiment.Reading, x, y []armSums, into *[]armSums) experiment.Reading {
	w := b.SD * b.SD / (a.SD*a.SD + b.SD*b.SD)
	out := make([]armSums, len(x))
	for i := range x {
		mix := func(u, v float64) float64 { return w*u + (1-w)*v }
		out[i] = armSums{mix(x[i].Reached, y[i].Reached), mix(x[i].Missed, y[i].Missed), mix(x[i].Missing, y[i].Missing), mix(x[i].Product, y[i].Product)}
	}
	*into = out
	a.SD, a.ProductSD = math.Hypot(w*a.SD, (1-w)*b.SD), math.Hypot(w*a.ProductSD, (1-w)*b.ProductSD)
	return a
}

// levelsOf reads every arm.
func (q *experimentQuestion) levelsOf(r experiment.Reading, sums []armSums) (out []experiment.Level) {
	for i, s := range sums {
		a := experiment.Arm{Sums: mechanism.NoisySplit{X: s.Reached, Z: s.Missed, Rest: s.Missing, Product: s.Product}}
		if q.public.By.Fixed {
			a.Persons = float64(q.public.By.Of[i].Persons)
		}
		out = append(out, r.Level(a))
	}
	return out
}

// mean is a level in units of a return.
func (q *experimentQuestion) mean(l experiment.Level) experiment.Interval {
	r := q.public.Returns()
	lower, upper := l.Interval()
	at := func(share float64) float64 { return r.Min + share*r.Width() }
	return experiment.Interval{Value: at(l.Value), Lower: at(lower), Upper: at(upper)}
}

// cut is a difference within what two outcomes can differ by.
func (q *experimentQuestion) cut(d experiment.Interval) experiment.Interval {
	w := q.public.Returns().Width()
	within := func(x float64) float64 { return min(max(x, -w), w) }
	return experiment.Interval{Value: within(d.Value), Lower: within(d.Lower), Upper: within(d.Upper)}
}

// answer is an interval as an answer; standard deviations are shares of the range.
func (q *experimentQuestion) answer(name string, kind AnswerKind, i experiment.Interval, sampling, privacy float64, of experiment.Level) PolicyAnswer {
	width := q.public.Returns().Width()
	e := &Estimate{Value: i.Value, Interval: [2]float64{i.Lower, i.Upper}, Confidence: scalar.Confidence(q.numbers()), StdSampling: sampling * width, StdPrivacy: privacy * width, Sampling: Paid}
	half := math.Sqrt2 * math.Erfinv(e.Confidence) * math.Hypot(e.StdSampling, e.StdPrivacy)
	e.Clipping = [2]float64{max(i.Value-half-i.Lower, 0), max(i.Upper-i.Value-half, 0)}
	a := PolicyAnswer{Name: name, Kind: kind, Estimate: e}
	if kind == OfGroup && !q.public.Complete {
		a.Diagnostics = map[string]any{"missing_mass": map[string]float64{"share": of.Missing, "share_std": of.MissingSD}}
	}
	return a
}

func liftOf(name string, i experiment.Interval) Lift {
	l := Lift{Name: name, Lower: i.Lower}
	if !math.IsNaN(i.Value) {
		l.Value = &i.Value
	}
	if !math.IsInf(i.Upper, 1) {
		l.Upper = &i.Upper
	}
	return l
}

// supposed are the sums that the guess makes expect, of which nothing is missing, without the covariate or with it.
func (q *experimentQuestion) supposed(covariate bool) experimentSums {
	r := q.public.Returns()
	mean, sd, rho := 0.5, math.Sqrt(1./8), defaultCorrelation // of 0 and 1 half of the variance
	if q.guess.Mean != 0 {
		mean = (q.guess.Mean - r.Min) / r.Width()
		sd = math.Sqrt(mean * (1 - mean))
	}
	if q.guess.SD != 0 {
		sd = min(q.guess.SD/r.Width(), math.Sqrt(mean*(1-mean)))
	}
	if q.guess.Correlation != 0 {
		rho = q.guess.Correlation
	}
	if !covariate {
		rho = 0
	}
	var out experimentSums
	if q.moments != 0 {
		v, n := make([]float64, experiment.Coordinates), float64(q.public.Persons)
		experiment.Moments{Count: n, C: n * mean, Y: n * mean, CC: n * (mean*mean + sd*sd), CY: n * (mean*mean + rho*sd*sd)}.Add(v)
		out.moments = v
	}
	if q.unassigned != 0 {
		out.unassigned = []float64{0.4 * q.unassigned} // what noise alone leaves above 0, on average
	}
	for i := range q.public.By.Of {
		n := q.size(i)
		sums := func(mean, variance float64) armSums {
			return armSums{n * mean, n * (1 - mean), 0, n * (mean*(1-mean) - variance)}
		}
		if q.outcomes != 0 {
			out.outcomes = append(out.outcomes, sums(mean, sd*sd))
		}
		if q.adjusted != 0 {
			a, _ := q.adjustment(out.moments) // it was made once
			x, z := a.Apply(mean, 1-mean, mean, 1)
			out.adjusted = append(out.adjusted, sums(x/(x+z), sd*sd*(1-2*a.Slope*rho+a.Slope*a.Slope)/a.Width()/a.Width()))
		}
	}
	return out
}

// about is what is known beforehand.
func (q *experimentQuestion) about() (summary, error) {
	p := q.public
	found, err := q.results(q.supposed(true))
	if err != nil {
		return summary{}, err
	}
	width := p.Returns().Width()
	s := summary{expected: Expected{Constant: width}}
	var expected []ExpectedAnswer
	for _, a := range found.answers {
		e := a.Estimate
		one := ExpectedAnswer{Name: a.Name, Kind: a.Kind, Range: p.Returns(), StdPrivacy: e.StdPrivacy, HalfWidth: (e.Interval[1] - e.Interval[0]) / 2}
		if a.Kind == OfContrast {
			one.Range = Range{-width, width}
		}
		expected = append(expected, one)
	}
	last := expected[len(expected)-1]
	s.expected.StdPrivacy, s.expected.HalfWidth = last.StdPrivacy, last.HalfWidth
	s.facts = map[string]any{"answers": expected}
	notes := []string{
		fmt.Sprintf("All %d intervals hold together with 95%% probability, and so do lifts, which follow from them. They are about the arms as they were drawn: a difference is the effect of an arm if chance alone decided who is in which.", q.numbers()),
		"Outcomes are cut to their public range, and what lies beyond it does not count.",
	}
	if !p.Complete {
		who := "is counted with noise, and every limit allows for any of them in any arm"
		if p.By.Fixed {
			who = "is in the arm whose public size counts them, and limits allow for any outcome"
		}
		notes = append(notes, "A person whose rows name no arm, two, or one that by does not list "+who+". So it is with outcomes that are missing. List all arms that there were.")
	}
	if q.covariate != "" {
		plain, err := q.results(q.supposed(false))
		if err != nil {
			return s, err
		}
		e := plain.answers[len(plain.answers)-1].Estimate
		s.facts["half_width_uncorrelated"] = (e.Interval[1] - e.Interval[0]) / 2
		notes = append(notes, fmt.Sprintf("Differences are those of outcomes less a slope times %s, the slope from noisy moments. This narrows them only if %[1]s was settled before arms were drawn; if an arm can move it, they are wrong. If it told nothing of outcomes, the last half width would be %.4g.", q.covariate, s.facts["half_width_uncorrelated"]))
	}
	if q.shares != nil {
		notes = append(notes, fmt.Sprintf("The noisy numbers of persons are held against the allocation. Where arms were drawn by it, this raises an alarm with probability %v.", mismatchAlarm))
	}
	if p.By.Fixed {
		notes = append(notes, "Arms are fixed: the guarantee covers the exchange of a person for another of the same arm. Who is in which arm, and how many are, is not protected.")
	}
	notes = append(notes, "The expected half widths rest on the guess, or on outcomes about the middle of their range, and on the allocation, or by.guess, or equal arms; the intervals do not.")
	for _, n := range append(notes, p.episodesNote()...) {
		s.notes = append(s.notes, p.words(n))
	}
	return s, nil
}
