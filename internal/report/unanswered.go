package report

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
)

// mostOfRange is the share of the public range from which on an interval leaves the
// question open.
const mostOfRange = 0.9

// Unanswered says in words why a private release does not answer its question, from
// its own numbers alone: its error is about that of an answer made up without any
// data. It is empty where the release tells something.
func Unanswered(r *evaluate.Release) string {
	if why := Refuted(r); why != "" {
		return why
	}
	var e *evaluate.Estimate
	if one := One(r); one != nil {
		e = one.Estimate
	} else if len(r.Answers) > 0 {
		return unansweredAll(r)
	}
	half := r.Expected.Constant // of the public range
	switch {
	case r.Privacy == nil || !(half > 0) || e != nil && e.Sampling == evaluate.NoSampling:
		return ""
	case e == nil && r.Expected.RMSE >= half:
		return fmt.Sprintf("The noise alone is expected to change the values by %s, while a constant chosen without data is wrong by at most %s: treat them as noise.",
			significant(r.Expected.RMSE, digits, down), significant(half, digits, up))
	case e == nil:
		return ""
	}
	value := "the value"
	if r.Survival != nil {
		value = "the answer"
	}
	width := e.Interval[1] - e.Interval[0]
	share, sd, _ := Missing(r)
	switch {
	case share >= mostly && share >= 2*sd && width >= mostOfRange*2*half:
		return missingWords(r, share) + fmt.Sprintf(" The interval covers %s of the public range of the answer.", percent(min(width/(2*half), 1), down))
	case e.StdPrivacy >= 2*half:
		return fmt.Sprintf("The standard deviation of the noise, %s, is larger than the whole public range of the answer: treat %s as noise.", significant(e.StdPrivacy, digits, down), value)
	case width >= mostOfRange*2*half:
		return fmt.Sprintf("The interval covers %s of the public range of the answer: %s could be almost anything in it.", percent(min(width/(2*half), 1), down), value)
	}
	return ""
}

// unansweredAll says why none of several answers tells anything.
func unansweredAll(r *evaluate.Release) string {
	if r.Privacy == nil || !(r.Expected.Constant > 0) {
		return ""
	}
	value, difference := Constants(r)
	for _, a := range r.Answers {
		if a.Estimate == nil {
			continue
		}
		whole := 2 * value
		if a.Kind == evaluate.OfContrast {
			whole = 2 * difference
		}
		if a.Estimate.Interval[1]-a.Estimate.Interval[0] < mostOfRange*whole {
			return ""
		}
	}
	return fmt.Sprintf("Every interval covers at least %s of the public range of its answer: each could be almost anything in it.", percent(mostOfRange, down))
}
