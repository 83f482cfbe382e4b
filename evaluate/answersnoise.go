package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

// shareAlike gives every answer of so many that are releases the same part of what the stages
// before leave of mu^2, and those that are one release the parts of all of them, turns the shares of
// these into noise multipliers, and returns the event of all.
func shareAlike(q Privacy, before *scalar.Stages, answers []quantity, releases int) (dp.Event, error) {
	shares, part := before.Taken(), 1.0 // shares are relative
	if len(shares) > 0 {
		rest := 1.0
		for _, s := range shares {
			rest -= s
		}
		part = rest / float64(releases)
	}
	joint := 0.0
	for _, a := range answers {
		if a.values == nil {
			s := a.stages(part)
			if a.together {
				joint += s.Main
				s.Main = 0
			}
			shares = append(shares, s.Taken()...)
		}
	}
	if joint > 0 {
		shares = append(shares, joint)
	}
	found, err := multipliers(q, shares...)
	if err != nil {
		return nil, err
	}
	left := before.Fill(found)
	for i, a := range answers {
		if a.values == nil {
			n := &answers[i].bounds.Noise
			if *n = a.stages(1); a.together {
				n.Main = 0
			}
			if left = n.Fill(left); a.together {
				n.Main = found[len(found)-1]
			}
		}
	}
	return gaussians(found...), nil
}

// beforeAnswers are the shares of the budget for what comes before all answers.
func (p Public) beforeAnswers() (s scalar.Stages) {
	if p.estimation(&s); p.judges {
		s.Practice = practiceShare
	}
	return s
}

// nearCap is the cap that weights of policies near to the logged one need.
const nearCap = 2

// expectedAnswers tells what is known of every answer beforehand, where the cap is yet to
// be chosen at the one that is given.
func expectedAnswers(answers []quantity, chosen float64) ([]ExpectedAnswer, error) {
	var told []ExpectedAnswer
	var err error
	for _, a := range answers {
		f := ExpectedAnswer{Name: a.name, Kind: a.kind, Range: Range(a.bounds.Public.Returns)}
		if a.values != nil {
			first, second := told[a.values[0]], told[a.values[1]]
			f.OfValues, f.HalfWidth = true, a.both(first.HalfWidth, second.HalfWidth)
			f.StdPrivacy, f.StdSampling = math.Hypot(first.StdPrivacy, second.StdPrivacy), a.both(first.StdSampling, second.StdSampling)
			told = append(told, f)
			continue
		}
		cap := a.bounds.Caps.At(0).Max
		f.MaxWeight = cap
		if a.apart != nil {
			f.Distance = a.apart.Distance
		}
		if a.share > 0 {
			f.Choices, cap = a.bounds.Caps.Steps+1, min(cap, chosen)
		}
		if f.StdPrivacy, f.StdSampling, err = a.bounds.Expected(cap); err != nil {
			return nil, err
		}
		f.HalfWidth = a.bounds.Z() * math.Hypot(f.StdPrivacy, f.StdSampling)
		if u := a.bounds.Uncut; a.bounds.Bare() {
			f.StdSampling = a.bounds.Range.Width() / 2 * math.Sqrt(u.Square/float64(a.bounds.Public.Persons))
			if f.HalfWidth, err = a.bounds.ExpectedUncut(); err != nil {
				return nil, err
			}
			f.HalfWidth *= a.bounds.Range.Width()
		}
		told = append(told, f)
	}
	return told, nil
}

// forecast is the half width that is expected, and false where public facts do not tell how weights vary;
// it is then the least, or 0 where that is an answer.
func (q *quantity) forecast(p Public, w weightBound) (half float64, told bool, err error) {
	if of := q.weights(p.Targets, w); w.largest <= largestKnown && p.Design.Supported && of.scatter > 0 {
		half, err = q.bounds.Foresee(of.law, of.scatter)
		return half, true, err
	}
	half, err = unknown(q.bounds)
	return half, false, err
}

// unknown is the half width where nobody knows how weights vary: 0, but where even equal ones are no answer.
func unknown(b scalar.Bounds) (float64, error) {
	half, err := b.Least()
	if half < b.Public.Returns.Width()/2 {
		half = 0
	}
	return half, err
}

// forecastAnswers puts forecasts in the place of half widths, and is false where one is not told.
func forecastAnswers(p Public, w weightBound, answers []quantity, expected []ExpectedAnswer) (all bool, err error) {
	all = true
	for i := range answers {
		q, e := &answers[i], &expected[i]
		switch {
		case q.bounds.Usable && q.values == nil:
			continue
		case q.values != nil:
			first, second := expected[q.values[0]].HalfWidth, expected[q.values[1]].HalfWidth
			if e.HalfWidth = q.both(first, second); first == 0 || second == 0 {
				e.HalfWidth = 0
			}
			continue
		}
		var told bool
		if e.HalfWidth, told, err = q.forecast(p, w); err != nil {
			return false, err
		}
		all = all && (told || e.HalfWidth > 0)
	}
	return all, nil
}

// nearEnds are the half widths of rare outcomes: of values, of contrasts of values, and of contrasts that pay for an anchor. Others depend little
// on where outcomes are, and have 0.
func (p Public) nearEnds(w weightBound, answers []quantity, expected []ExpectedAnswer) (near []float64, err error) {
	near = make([]float64, len(answers))
	above := make([]float64, len(answers))
	for i, a := range answers {
		switch e := expected[i]; {
		case a.values != nil:
			first, second := a.values[0], a.values[1]
			if near[i] = near[first] + near[second]; a.uncorrelated {
				near[i] = min(near[i], a.both(above[first], above[second]))
			}
			if e.HalfWidth == 0 {
				near[i] = 0
			}
		case a.anchor > 0:
			of := a.weights(p.Targets, w)
			if near[i], err = a.bounds.ForeseeAt(nearShare, of.law, of.scatter); err != nil {
				return nil, err
			}
		case a.kind == OfPolicy:
			if near[i] = e.Range.nearEnd(e.HalfWidth, e.StdPrivacy); a.bounds.Bare() {
				of := a.weights(p.Targets, w)
				near[i], above[i], err = a.bounds.ForeseeNear(nearShare, of.law, of.scatter)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return near, nil
}

// byStates tells that the design allows weights that differ from state to state.
func (p Public) byStates() bool { return p.Design != nil && p.Design.Varies }

// allOne is the law of the narrowest intervals: no weight is larger than another.
func allOne() []scalar.Atom { return []scalar.Atom{{Weight: 1, Share: 1}} }

// leastOf are the least that forecasts of differences of weights can be, whatever states are frequent; of values too, where that is far less.
func (p Public) leastOf(w weightBound, answers []quantity, expected []ExpectedAnswer) (told []string, err error) {
	for i, a := range answers {
		value := a.apart == nil && a.kind == OfPolicy
		if !value && a.apart == nil || expected[i].HalfWidth == 0 || !p.byStates() {
			continue
		}
		scatter := 0.0
		if value {
			scatter = a.weights(p.Targets, w).scatter
		}
		least, err := a.bounds.Foresee(allOne(), scatter)
		if err != nil {
			return nil, err
		}
		if !value || expected[i].HalfWidth > farLess*least {
			told = append(told, downTo(a.name, least))
		}
	}
	return told, nil
}

// downTo names an answer and its least half width.
func downTo(name string, least float64) string { return fmt.Sprintf("%s down to %.3g", name, least) }

// aboutAnswers is what is known beforehand; w is nil of a policy that is yet to be learned.
func (p Public) aboutAnswers(answers []quantity, w *weightBound, confounding float64, uncut bool) (s summary, err error) {
	affordable := 1.0
	if slices.ContainsFunc(answers, func(a quantity) bool { return a.share > 0 }) {
		if affordable, err = affordableWeight(p); err != nil {
			return s, err
		}
	}
	expected, err := expectedAnswers(answers, affordable)
	if err != nil {
		return s, err
	}
	s.facts = map[string]any{"answers": expected}
	if w != nil && !p.supposes {
		s.facts["forecast"] = byWeights
		told, err := forecastAnswers(p, *w, answers, expected)
		if err != nil {
			return s, err
		}
		if !told {
			s.outlook = append(s.outlook, p.notForecast(answers[0].bounds.Estimated, false))
		}
		near, err := p.nearEnds(*w, answers, expected)
		if err != nil {
			return s, err
		}
		s.inMiddles(expected, near)
		least, err := p.leastOf(*w, answers, expected)
		if err != nil {
			return s, err
		}
		s.inRareStates(least)
		if told && w.scatter > 0 && w.scatter < 1 {
			s.outlook = append(s.outlook, goTogether)
		}
	}
	if confounding > 1 {
		s.facts["confounding"] = confounding
	}
	for _, a := range expected {
		s.expected.Constant = max(s.expected.Constant, a.Range.Width()/2)
	}
	whatever := whateverWords + p.restsOn(confounding) + "."
	if uncut {
		whatever = ", assuming that the design and its probabilities are right and that no record is lost, as the curator states (problem.records: complete); the check of the data can refute that statement but not prove it. If more weight is missing in one answer than chance explains, all intervals get a guard and notes say so."
	}
	joint := jointNote(len(answers), whatever)
	if slices.ContainsFunc(answers, func(a quantity) bool { return a.together }) {
		joint = strings.Replace(joint, dividedAlike, " They share the error probability equally; the budget is divided among releases, of which the values of policies that always take one action are one, with the parts of all of them.", 1)
	}
	s.notes = append([]string{joint}, p.episodesNote()...)
	s.estimated(p)
	if slices.ContainsFunc(answers, func(a quantity) bool { return a.apart != nil }) {
		s.notes = append(s.notes, "A contrast with a distance is estimated from the difference of weights: a decision counts by how far apart the two policies are in its state, and what was never logged can be worth no more than that. Its range is what policies at that distance can differ by.")
	}
	if slices.ContainsFunc(answers, func(a quantity) bool { return a.kind == OfContrast && a.values == nil && a.apart == nil }) {
		s.notes = append(s.notes, "A contrast is estimated directly: where two policies act alike they cancel for each person, so its interval is not computed from the intervals of the two values.")
	}
	if slices.ContainsFunc(answers, func(a quantity) bool { return a.uncorrelated }) {
		s.notes = append(s.notes, "A contrast of two values that are one release is their difference, with the squares of their errors added up: nobody counts in both. It costs no budget, and has its part of the error probability.")
	}
	if slices.ContainsFunc(answers, func(a quantity) bool { return a.values != nil && !a.uncorrelated }) {
		s.notes = append(s.notes, "A contrast of two values that are both answers is computed from their intervals and costs nothing: with so few persons or so small a budget, estimating it directly would add more noise than it would cancel sampling error. Asked for alone, with levels none, it would have a narrower interval.")
	}
	return s, nil
}

const whateverWords = ", whatever weights are clipped and whatever was never logged, assuming "

func jointNote(intervals int, whatever string) string {
	if intervals == 1 {
		return "The interval holds with 95% probability" + whatever
	}
	return fmt.Sprintf("All %d intervals hold simultaneously with 95%% probability", intervals) + whatever + dividedAlike
}

const dividedAlike = " The budget and the error probability are divided equally among them."
