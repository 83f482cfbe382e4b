package report_test

import (
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// Values lie in a range 10 wide, so that its middle is off by 5 at worst; differences lie
// in one 20 wide.
func TestConstantsAreThoseOfWhatIsAnswered(t *testing.T) {
	r := severalRelease()
	if value, difference := report.Constants(r); value != 5 || difference != 10 {
		t.Errorf("both: %v, %v", value, difference)
	}
	all := r.Answers
	r.Answers = all[2:3]
	if value, difference := report.Constants(r); value != 0 || difference != 10 {
		t.Errorf("a difference alone: %v, %v", value, difference)
	}
	r.Answers, r.Expected.Constant = all[:2], 5
	if value, difference := report.Constants(r); value != 5 || difference != 0 {
		t.Errorf("values: %v, %v", value, difference)
	}
	r.Answers = nil
	if value, difference := report.Constants(r); value != 5 || difference != 0 {
		t.Errorf("a single value: %v, %v", value, difference)
	}
}

// A variance that its noise hides is not an error of 0.
func TestSamplingErrorBelowItsNoise(t *testing.T) {
	for source, want := range map[evaluate.SamplingSource]bool{evaluate.Paid: true, evaluate.NotPrivate: false} {
		r := scalarRelease()
		r.Answers[0].Estimate.StdSampling, r.Answers[0].Estimate.Sampling = 0, source
		if got := strings.Contains(mustParse(t, render(t, r)).text, "below noise"); got != want {
			t.Errorf("%s: told %v", source, got)
		}
	}
}
