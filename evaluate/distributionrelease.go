package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/distribution"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Names of the diagnostics that hold the noisy masses.
const (
	massesName  = "masses"
	backName    = "mass_kept_back"
	squaresName = "squares"
)

// release is all that follows from the noisy masses.
func (q *distributionQuestion) release(noisy mechanism.NoisyMasses) (*Release, error) {
	f := q.Estimate(distribution.Masses{In: noisy.In, Back: noisy.Back, Squares: noisy.Squares})
	r := &Release{JointConfidence: scalar.Confidence(1), Diagnostics: map[string]any{massesName: noisy.In, backName: noisy.Back}}
	if !q.Whole {
		r.Diagnostics["missing_mass"] = map[string]float64{"share": min(max(1-f.Mass, 0), 1), "share_std": f.MassSD}
	}
	if !q.public.onPolicy() && scalar.Refuted(f.Mass, f.MassSD, f.Persons) {
		r.Diagnostics["weights_refuted"] = map[string]float64{"mean_weight": f.Mass, "mean_weight_std": f.MassSD}
		r.first = fmt.Sprintf(refutedNote, f.Mass, f.MassSD)
		f = f.Unknown()
	}
	r.Distribution = &Distribution{q.Ends, Curve(f.Band)}
	if noisy.Squares != nil {
		r.Diagnostics[squaresName] = noisy.Squares
	}
	for _, a := range q.asked {
		x := a.of(f)
		r.Answers = append(r.Answers, PolicyAnswer{Name: a.name, Kind: OfPolicy, Estimate: &Estimate{
			Value: x.Value, Interval: [2]float64{x.Lower, x.Upper}, Confidence: scalar.Confidence(1),
			StdSampling: x.StdSampling, StdPrivacy: x.StdPrivacy, Sampling: q.public.sampling(), Clipping: x.Open,
		}})
	}
	return r, nil
}

// again makes the release of its noisy masses.
func (q *distributionQuestion) again(r *Release) (*Release, error) {
	var noisy mechanism.NoisyMasses
	var err error
	if noisy.In, err = numbers(r, massesName, len(q.Ends)); err != nil {
		return nil, err
	}
	if q.squares > 0 {
		if noisy.Squares, err = numbers(r, squaresName, len(q.Ends)); err != nil {
			return nil, err
		}
	}
	if err := diagnostic(r, backName, &noisy.Back); err != nil {
		return nil, err
	}
	return q.release(noisy)
}

// about is what is known beforehand.
func (q *distributionQuestion) about(method string) (summary, error) {
	f := q.Estimate(q.guessed())
	s := summary{expected: Expected{Constant: q.returns.Width() / 2}}
	var answers []ExpectedAnswer
	for _, a := range q.asked {
		x := a.of(f)
		half := (x.Upper - x.Lower) / 2
		answers = append(answers, ExpectedAnswer{Name: a.name, Kind: OfPolicy, Range: q.returns, StdPrivacy: x.StdPrivacy, HalfWidth: half})
	}
	first := answers[0]
	s.expected.StdPrivacy, s.expected.HalfWidth = first.StdPrivacy, first.HalfWidth
	s.facts = map[string]any{"ends": q.Ends, "max_weight": q.Most, "noise_std": q.SD, "answers": answers}
	p := q.public
	if !p.onPolicy() && f.Width() >= hopeless {
		return s, fmt.Errorf("%w: %s: with weights of up to %.4g, %d %ss and this budget the limits are expected to be 0 and 1 almost everywhere; evaluate a policy closer to the logged one, take fewer bins, a larger budget, or dp-wis for its mean", ErrMethod, method, q.Most, p.Persons, p.unit())
	}
	s.notes = append(q.meaning(), p.words("The expected half widths suppose returns that are spread evenly over their range, of which nothing is missing but the weight above the cap."))
	return s, nil
}

// meaning says what the numbers are.
func (q *distributionQuestion) meaning() (notes []string) {
	p, rests := q.public, "."
	if !p.onPolicy() {
		rests = fmt.Sprintf(", whatever weights are clipped (those above %.4g) and whatever was never logged, assuming %s.", q.Most, p.restsOn(0))
	}
	notes = append(notes, p.words("The limits of the distribution function hold at all points together with 95% probability, and the intervals of quantiles and means of tails follow from them"+rests))
	within := "A quantile's interval reaches from the start of a bin to the end of one; a value inside is read as if returns were spread evenly in a bin."
	if q.Discrete {
		within = "Returns are stated to be among the listed ones; one that is not is missing."
	}
	notes = append(notes, within)
	if !q.Whole {
		notes = append(notes, p.words("What is missing (an episode that was cut off or left out, the weight above the cap, actions that were never logged) may be anywhere in the range; limits allow for that. Values are read as if it were like the rest."))
	}
	return append(notes, p.episodesNote()...)
}

// guessed are the masses that are expected of returns spread evenly over the bins.
func (q *distributionQuestion) guessed() distribution.Masses {
	mean, square := 1.0, 1.0
	if q.squares > 0 && q.law.law != nil {
		mean, square = 0, 0
		for _, a := range q.law.law {
			w := min(a.Weight, q.Most)
			mean += a.Share * w
			square += a.Share * w * w
		}
	} else if q.squares > 0 {
		square = math.Sqrt(q.Most) // a guess between weights of 1 and the largest ones
	}
	persons := float64(q.public.Persons)
	m := distribution.Masses{In: make([]float64, len(q.Ends)), Back: persons * (q.Most - mean)}
	if q.squares > 0 {
		m.Squares = make([]float64, len(q.Ends))
	}
	before := q.returns.Min
	for j, end := range q.Ends {
		share := persons * (end - before) / q.returns.Width()
		if q.Discrete {
			share = persons / float64(len(q.Ends))
		}
		before = end
		m.In[j] = mean * share
		if m.Squares != nil {
			m.Squares[j] = square * share
		}
	}
	return m
}
