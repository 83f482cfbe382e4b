package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

// summary is what a plan says to its readers beside the public facts that it rests on.
type summary struct {
	facts    map[string]any
	expected Expected
	heading  []string // notes that go before all others
	notes    []string
	outlook  []string // see [Plan.Outlook]
}

// and adds what others say. Their facts, and their errors that are not 0, take the place of
// those that were there.
func (s summary) and(others ...summary) summary {
	out := summary{map[string]any{}, s.expected, slices.Clone(s.heading), slices.Clone(s.notes), slices.Clone(s.outlook)}
	maps.Copy(out.facts, s.facts)
	for _, o := range others {
		maps.Copy(out.facts, o.facts)
		e, f := o.expected, out.expected
		out.expected = Expected{cmp.Or(e.StdPrivacy, f.StdPrivacy), cmp.Or(e.StdSampling, f.StdSampling), cmp.Or(e.HalfWidth, f.HalfWidth), cmp.Or(e.RMSE, f.RMSE), cmp.Or(e.Constant, f.Constant)}
		out.heading, out.notes, out.outlook = append(out.heading, o.heading...), append(out.notes, o.notes...), append(out.outlook, o.outlook...)
	}
	return out
}

// byWeights is the public fact of half widths that are forecast only where the law of weights is known.
const byWeights = "weights"

// unforecast takes back a half width that nobody can forecast; guess tells that a guess of weights would help.
func (s *summary) unforecast(p Public, b scalar.Bounds, guess bool) (err error) {
	s.facts["forecast"] = byWeights
	if s.expected.HalfWidth, err = unknown(b); s.expected.HalfWidth == 0 || b.Estimated && p.decisions() > 1 {
		s.outlook = append(s.outlook, p.notForecast(b.Estimated, guess))
	}
	return err
}

// notForecast says why a half width is not told, and what would.
func (p Public) notForecast(estimated, guess bool) string {
	switch {
	case estimated && p.decisions() > 1 && !p.Behavior.Once:
		return "Half width: expect most of the range, since probabilities are estimated over several decisions."
	case estimated:
		return "Half width: not forecast, since only the data tell how often actions were taken."
	case guess:
		return "Half width: not forecast, since only the data tell how weights vary. Give guess, a parameter of the method, or the policy by which actions were drawn, if it is public and no softmax, whose probabilities have no bound above 0."
	}
	return "Half width: not forecast, since only the data tell how weights vary. Give the policy by which actions were drawn, if it is public and no softmax, whose probabilities have no bound above 0."
}

// inMiddle adds that a forecast supposes a value in the middle of the range, and what it is near an end.
func (s *summary) inMiddle(near float64) {
	s.outlook = append(s.outlook, fmt.Sprintf("The expected half width and the error of privacy suppose a value in the middle of the range; near an end the half width is smaller, of rare outcomes (1%% of the range) about %.3g.", near))
}

// farLess is how many times as wide as it may be a forecast is that has to say so.
const farLess = 1.5

// inRareState adds what a forecast by a design supposes of states, where an interval may be far narrower than that: down to least.
func (s *summary) inRareState(least float64) {
	if s.expected.HalfWidth > farLess*least {
		s.outlook = append(s.outlook, fmt.Sprintf("The expected half width supposes that all states are as frequent; where large weights are of rare states alone it is down to %.3g.", least))
	}
}

// inRareStates adds the same of several answers, each with its least.
func (s *summary) inRareStates(told []string) {
	if told != nil {
		s.outlook = append(s.outlook, "Expected half widths suppose that all states are as frequent; where large weights are of rare states alone they are smaller: "+strings.Join(told, ", ")+".")
	}
}

// inMiddles adds the same of several answers; near is 0 of those that depend little on it.
func (s *summary) inMiddles(expected []ExpectedAnswer, near []float64) {
	var told []string
	for i, e := range expected {
		if near[i] > 0 && e.HalfWidth > 0 && e.HalfWidth < e.Range.Width()/2 {
			told = append(told, fmt.Sprintf("%s about %.3g", e.Name, near[i]))
		}
	}
	if told != nil {
		s.outlook = append(s.outlook, "Expected half widths and errors of privacy suppose values in the middle of the range; of rare outcomes (1% of the range) half widths are smaller: "+strings.Join(told, ", ")+".")
	}
}

// goTogether says what a forecast supposes of several rewards.
const goTogether = "Expected half widths suppose that rewards vary from decision to decision; if those of an episode go together, intervals are wider."

// nearShare is the share of the range that stands for rare outcomes.
const nearShare = 0.01

// nearEnd is half of what of the interval of a value there lies within a range, where half of it is half in the middle.
func (r Range) nearEnd(half, private float64) float64 {
	noise := min(scalar.Z95*private, half)
	near := math.Hypot(noise, 2*math.Sqrt(nearShare*(1-nearShare)*(half*half-noise*noise)))
	return (near + min(near, nearShare*r.Width())) / 2
}
