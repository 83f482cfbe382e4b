package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
)

// Quantity is what the answers of a release of survival are; empty for another release.
func Quantity(r *evaluate.Release) string {
	switch one := One(r); {
	case r.Survival == nil:
		return ""
	case one != nil && one.Kind == evaluate.OfContrast:
		return differenceOfMeans + ", " + one.Name
	case one == nil && len(r.Survival.Differences) > 0 && r.Answers[0].Kind != evaluate.OfContrast:
		return restrictedMean + ", or of a difference of two,"
	case one == nil && len(r.Survival.Differences) > 0:
		return differenceOfMeans
	}
	return restrictedMean
}

const (
	restrictedMean    = "restricted mean"
	differenceOfMeans = "difference of restricted means"
)

// LeftOpen names what lengthens the intervals of a release of survival beyond the errors of
// sampling and of privacy.
func LeftOpen(r *evaluate.Release) string {
	if formOf(r) == "limits" {
		return "what censoring and missing weight leave open"
	}
	if countsMissing(r) {
		return "what bins, the tail, rare events and missing outcomes leave open"
	}
	return "what bins, the tail and rare events leave open"
}

// openAlone is [LeftOpen] for a chart in which each part stands alone.
func openAlone(r *evaluate.Release) string {
	if countsMissing(r) {
		return "bins, tail, missing alone"
	}
	return "bins and tail alone"
}

// countsMissing tells whether a release counts persons whose outcome cannot be used.
func countsMissing(r *evaluate.Release) bool {
	return r.Survival != nil && r.Privacy != nil && r.Public["records"] != "complete"
}

// ArmSummary is what is estimated of one arm, ready to print.
type ArmSummary struct {
	Name                   string
	Mean, Median, Survival Limited
	// At is the last time at which survival is known; empty where there is none.
	At string
	// Missing is the noisy share of persons whose outcome cannot be used; empty where the
	// release does not count them.
	Missing string
}

// Limited is a number with its limits. Low and High are empty where there are none.
type Limited struct{ Value, Low, High string }

// String is the number with its limits in brackets.
func (l Limited) String() string {
	if l.Low == "" {
		return l.Value
	}
	return l.Value + " [" + l.Low + ", " + l.High + "]"
}

// String is the arm on one line.
func (a ArmSummary) String() string {
	out := fmt.Sprintf("%s: %s %s, median %s", a.Name, restrictedMean, a.Mean, a.Median)
	if a.At != "" {
		out += fmt.Sprintf(", survival at %s %s", a.At, a.Survival)
	}
	if a.Missing != "" {
		out += ", outcome missing " + a.Missing
	}
	return out
}

// Arms are the arms of a release of survival; nil for another release.
func Arms(r *evaluate.Release) []ArmSummary {
	if r.Survival == nil {
		return nil
	}
	var out []ArmSummary
	for _, a := range r.Survival.Arms {
		e := a.RestrictedMean
		decimals := decimalsFor(e.Value, e.Interval[1]/2-e.Interval[0]/2)
		s := ArmSummary{
			Name:   a.Name,
			Mean:   Limited{fixed(e.Value, decimals, nearest), fixed(e.Interval[0], decimals, down), fixed(e.Interval[1], decimals, up)},
			Median: medianWords(a), Survival: Limited{Value: notKnown},
		}
		if n := len(a.Survival.Values); n > 0 {
			s.At, s.Survival = parameter(r.Survival.Ends[n-1]), limitedAt(a.Survival, n-1, 2)
		}
		if countsMissing(r) {
			s.Missing = belowNoise
			if a.MissingShare > 0 {
				s.Missing = significant(100*a.MissingShare, 2, up) + "%"
			}
		}
		out = append(out, s)
	}
	return out
}

const (
	notKnown   = "not known"
	notReached = "not reached"
)

// medianWords are the median of an arm with its limits.
func medianWords(a evaluate.SurvivalArm) Limited {
	m := a.Median
	if m == nil {
		if slices.ContainsFunc(a.Survival.Lower, func(v float64) bool { return v <= 0.5 }) {
			return Limited{Value: notKnown}
		}
		return Limited{Value: notReached} // the whole band lies above one half
	}
	out := Limited{notReached, parameter(m.Lower), notReached}
	if m.Value != nil {
		out.Value = parameter(*m.Value)
	}
	if m.Upper != nil {
		out.High = parameter(*m.Upper)
	}
	return out
}

// limitedAt is a curve by the end of bin j, with its limits.
func limitedAt(c evaluate.Curve, j, decimals int) Limited {
	l := Limited{"–", probability(c.Lower[j], decimals, down), probability(c.Upper[j], decimals, up)}
	if j < len(c.Values) {
		l.Value = probability(c.Values[j], decimals, nearest)
	}
	return l
}

// probability formats with so many decimals, zeros among them, so that numbers stand in columns.
func probability(x float64, decimals int, d direction) string {
	out := rounded(x, math.Pow(10, -float64(decimals)), d, func(y float64) string { return strconv.FormatFloat(y, 'f', decimals, 64) })
	if v, err := strconv.ParseFloat(out, 64); err == nil && v == 0 {
		out = strings.TrimPrefix(out, "-")
	}
	return typeset(out)
}

// unusableWords say that an arm lacks the outcomes of many persons, more than the noise of two
// cells explains. They are empty where none does.
func unusableWords(r *evaluate.Release) string {
	if !countsMissing(r) {
		return ""
	}
	sd := 0.0
	if public, err := normalise("public", r.Public); err == nil {
		sd, _ = number(public["noise_std"])
		if w, ok := number(public["max_weight"]); ok {
			sd *= w
		}
	}
	for _, a := range r.Survival.Arms {
		if a.MissingShare >= partly && len(a.AtRisk) > 0 && a.MissingShare*max(a.AtRisk[0], 1) >= 2*math.Sqrt2*sd {
			return fmt.Sprintf("%s: about %.0f%% of the persons have an outcome that cannot be used. Intervals allow for whatever became of them.", a.Name, 100*a.MissingShare)
		}
	}
	return ""
}
