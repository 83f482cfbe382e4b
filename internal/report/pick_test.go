package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// TestPolicyThatWasDrawnIsShownWithoutAValue: title, warning and answer say that there is
// none, and nothing on the page speaks of intervals that there are not.
func TestPolicyThatWasDrawnIsShownWithoutAValue(t *testing.T) {
	s := statement()
	s.Event, s.Accountant, s.Accounted = dp.PermuteAndFlip{Epsilon: 1}, "closed_form", account.Bracket{Upper: 1}
	r := &evaluate.Release{
		Schema: evaluate.ReleaseSchema, Method: "dp-wis", Privacy: s, Public: map[string]any{"gamma": 1.0, "persons": int64(312)},
		Answers: []evaluate.PolicyAnswer{{Name: "best", Kind: evaluate.OfPick, Pick: &evaluate.Pick{Policy: "A <b>"}}},
	}
	if report.Picked(r) != "A <b>" || report.Intervals(r) != 0 {
		t.Errorf("picked %q, %d intervals", report.Picked(r), report.Intervals(r))
	}
	var page bytes.Buffer
	if err := report.Write(&page, r); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{"Which policy is best, without a value", "This release comes without a value", "<strong>A &lt;b&gt;</strong> was drawn by permute-and-flip", "answers[0].pick.policy"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"hold together", "largest lower limit", "Each interval", "The normal curve"} {
		if strings.Contains(text, never) {
			t.Errorf("the page says %q", never)
		}
	}
	first, value := strings.Index(text, "This release comes without a value"), strings.Index(text, "was drawn by permute-and-flip")
	if !(first < value) {
		t.Error("the answer stands before the warning")
	}
}
