package report_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

func experimentRelease() *evaluate.Release {
	r := scalarRelease()
	r.Method, r.JointConfidence = "dp-experiment", 0.95
	answer := func(name string, kind evaluate.AnswerKind, value, low, high float64) evaluate.PolicyAnswer {
		return evaluate.PolicyAnswer{Name: name, Kind: kind, Estimate: &evaluate.Estimate{Value: value, Interval: [2]float64{low, high}, Confidence: 0.98, Sampling: evaluate.Paid, StdPrivacy: 0.01}}
	}
	r.Answers = []evaluate.PolicyAnswer{answer("A", evaluate.OfGroup, 0.5, 0.4, 0.6), answer("B", evaluate.OfGroup, 0.75, 0.625, 0.875), answer("B - A", evaluate.OfContrast, 0.25, 0.125, 0.375)}
	p, none, lift := 0.25, 3.2, 0.5
	r.Experiment = &evaluate.Experiment{Persons: map[string]float64{"A": 701.4, "B": 298.2}, Unassigned: &none, AllocationP: &p, Lifts: []evaluate.Lift{{Name: "B - A", Value: &lift, Lower: 0.20851}}}
	return r
}

// The page has a forest of means and one of differences, and what there is beside them.
func TestAnExperimentIsDrawn(t *testing.T) {
	page := render(t, experimentRelease())
	for _, want := range []string{
		"How the arms of an experiment compare", "The mean outcome of each arm", "Differences from the control", "B is above A",
		"A about 701, B about 298", "as stated", "about 3 whose rows name no arm", "B - A: &#43;50% of the control’s mean, from &#43;20.8% without an upper limit",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	r := experimentRelease()
	r.Experiment.Mismatch = true
	if page := render(t, r); !strings.Contains(page, "The arms do not have the shares that were stated") || !strings.Contains(page, "NOT AS STATED") {
		t.Error("the page does not tell of a mismatch")
	}
	r.Experiment.Lifts[0].Lower = math.NaN()
	if err := report.Write(io.Discard, r); !errors.Is(err, report.ErrRelease) {
		t.Errorf("a lift that is no number: %v", err)
	}
}
