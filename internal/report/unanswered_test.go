package report_test

import (
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// TestUnansweredFromItsOwnNumbers holds the words against the range of 2 that a
// constant of error 1 stands for.
func TestUnansweredFromItsOwnNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *evaluate.Release)
		none   bool
	}{
		"an interval of 89%": {func(r *evaluate.Release) { r.Answers[0].Estimate.Interval = [2]float64{0, 1.78} }, false},
		"an interval of 91%": {func(r *evaluate.Release) { r.Answers[0].Estimate.Interval = [2]float64{0.18, 2} }, true},
		"noise of the range": {func(r *evaluate.Release) { r.Answers[0].Estimate.StdPrivacy = 2 }, true},
		"noise below":        {func(r *evaluate.Release) { r.Answers[0].Estimate.StdPrivacy = 1.9 }, false},
		"a constant": {func(r *evaluate.Release) {
			r.Answers[0].Estimate.Interval, r.Answers[0].Estimate.Sampling = [2]float64{0, 2}, evaluate.NoSampling
		}, false},
		"a reference":           {func(r *evaluate.Release) { r.Privacy, r.Answers[0].Estimate.Interval = nil, [2]float64{0, 2} }, false},
		"no range is known":     {func(r *evaluate.Release) { r.Expected.Constant, r.Answers[0].Estimate.Interval = 0, [2]float64{0, 2} }, false},
		"a function of noise":   {func(r *evaluate.Release) { r.Answers, r.Expected.RMSE = nil, 1 }, true},
		"a function with error": {func(r *evaluate.Release) { r.Answers, r.Expected.RMSE = nil, 0.5 }, false},
	} {
		r := scalarRelease()
		r.Expected.Constant, r.Answers[0].Estimate.Interval, r.Answers[0].Estimate.StdPrivacy = 1, [2]float64{0.5, 1}, 0.1
		c.change(r)
		if why := report.Unanswered(r); (why != "") != c.none {
			t.Errorf("%s: %q", name, why)
		}
	}
}
