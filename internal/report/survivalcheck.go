package report

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
)

// No release has more bins or arms; of more a page would take long to draw.
const (
	mostEnds = 400
	mostArms = 8
)

// checkSurvival refuses curves that cannot be shown truthfully.
func checkSurvival(s *evaluate.Survival) error {
	if s == nil {
		return nil
	}
	refuse := func(field, why string) error { return fmt.Errorf("%w: survival.%s: %s", ErrRelease, field, why) }
	if err := finite("survival.ends", append([]float64{s.Until}, s.Ends...)...); err != nil {
		return err
	}
	last := 0.0
	for _, e := range s.Ends {
		if !(e > last) {
			return refuse("ends", "want numbers above 0 that increase")
		}
		last = e
	}
	switch {
	case len(s.Ends) == 0 || len(s.Arms) == 0:
		return refuse("arms", "want a bin and an arm at least")
	case len(s.Ends) > mostEnds || len(s.Arms) > mostArms || len(s.Differences) > mostArms:
		return refuse("arms", "there are more arms or bins than any release has")
	case !slices.Contains(s.Ends, s.Until):
		return refuse("until", "want the end of a bin")
	}
	for i, a := range s.Arms {
		field := fmt.Sprintf("survival.arms[%d]", i)
		if err := checkArm(field, a, s); err != nil {
			return err
		}
		if !slices.EqualFunc(a.Incidence, s.Arms[0].Incidence, func(a, b evaluate.CauseIncidence) bool { return a.Cause == b.Cause }) {
			return fmt.Errorf("%w: %s.incidence: want the causes of the first arm, in their order", ErrRelease, field)
		}
	}
	for i, d := range s.Differences {
		if err := checkCurve(fmt.Sprintf("survival.differences[%d]", i), d.Curve, len(s.Ends), -1); err != nil {
			return err
		}
	}
	return nil
}

func checkArm(field string, a evaluate.SurvivalArm, s *evaluate.Survival) error {
	if len(a.AtRisk) != len(s.Ends) {
		return fmt.Errorf("%w: %s.at_risk has %d numbers for %d bins", ErrRelease, field, len(a.AtRisk), len(s.Ends))
	}
	if err := finite(field+".at_risk", append([]float64{a.MissingShare}, a.AtRisk...)...); err != nil {
		return err
	}
	if err := checkCurve(field+".survival", a.Survival, len(s.Ends), 0); err != nil {
		return err
	}
	for i, c := range a.Incidence {
		if err := checkCurve(fmt.Sprintf("%s.incidence[%d]", field, i), c.Curve, len(s.Ends), 0); err != nil {
			return err
		}
	}
	if err := checkEstimate(&a.RestrictedMean); err != nil {
		return fmt.Errorf("%s.restricted_mean: %w", field, err)
	}
	return checkMedian(field+".median", a.Median)
}

// checkCurve refuses a curve that is not over so many bins, or leaves the range from least to 1.
func checkCurve(field string, c evaluate.Curve, bins int, least float64) error {
	if len(c.Lower) != bins || len(c.Upper) != bins || len(c.Values) > bins {
		return fmt.Errorf("%w: %s has %d values, %d lower and %d upper limits for %d bins", ErrRelease, field, len(c.Values), len(c.Lower), len(c.Upper), bins)
	}
	all := slices.Concat(c.Values, c.Lower, c.Upper)
	if err := finite(field, all...); err != nil {
		return err
	}
	if slices.Min(all) < least || slices.Max(all) > 1 {
		return fmt.Errorf("%w: %s leaves the range from %v to 1", ErrRelease, field, least)
	}
	for j := range bins {
		if c.Lower[j] > c.Upper[j] {
			return fmt.Errorf("%w: %s: the limits of bin %d are reversed", ErrRelease, field, j+1)
		}
	}
	return nil
}

func checkMedian(field string, m *evaluate.Median) error {
	if m == nil {
		return nil
	}
	numbers := []float64{m.Lower}
	for _, x := range []*float64{m.Value, m.Upper} {
		if x != nil {
			numbers = append(numbers, *x)
		}
	}
	if err := finite(field, numbers...); err != nil {
		return err
	}
	if !slices.IsSorted(numbers) {
		return fmt.Errorf("%w: %s: want the lower limit, the median and the upper limit in this order", ErrRelease, field)
	}
	return nil
}
