package report_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// TestMovedValueIsTold: where a release answers with the end of the interval, because the
// interval excludes what its model said, the page says so beside the value.
func TestMovedValueIsTold(t *testing.T) {
	for says, want := range map[float64]bool{0.1: true, 0.2: false} {
		r := scalarRelease()
		r.Answers[0].Estimate.Value, r.Answers[0].Estimate.Interval = 0.2, [2]float64{0.2, 1.4}
		r.Answers[0].Diagnostics = map[string]any{"model": map[string]any{"value": says}}
		if got, moved := report.Moved(r); moved != want || got != says {
			t.Errorf("the model says %v, the value is 0.2: %v, %v", says, got, moved)
		}
		var page bytes.Buffer
		if err := report.Write(&page, r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(page.String(), "The model predicts"); got != want {
			t.Errorf("the model says %v, the value is 0.2: told is %v", says, got)
		}
	}
	if _, moved := report.Moved(scalarRelease()); moved {
		t.Error("a release without a model has a moved value")
	}
}

// TestBandsStandWithTheirCondition: a value function with intervals by state shows them
// beside the values, with what they suppose.
func TestBandsStandWithTheirCondition(t *testing.T) {
	r := scalarRelease()
	r.Answers, r.Values, r.Theta = nil, []float64{0.25, 0.5}, []float64{0.25, 0.5}
	page := func() string {
		var out bytes.Buffer
		if err := report.Write(&out, r); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if strings.Contains(page(), "band") {
		t.Error("bands without any in the release")
	}
	r.Bands = &evaluate.Bands{Lower: []float64{0.125, 0.375}, Upper: []float64{0.375, 0.625}, Deviations: 1.96, Condition: "fair weather"}
	r.Start = &evaluate.StartValue{Value: 0.4375, StdAtMost: 0.0625, Band: &[2]float64{0.3125, 0.5625}, Deviations: 1.96, Condition: "fair weather"}
	r.Public["state_names"] = []string{"mild", "se<vere"}
	for _, want := range []string{"first_states below) the mean of these values is 0.4375", "Under the assumptions of the bands its standard deviation is at most 0.0625; 1.96 standard deviations to either side give 0.3125 to 0.5625", "mild", "se&lt;vere"} {
		if !strings.Contains(page(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	r.Start.Value = math.NaN()
	if err := report.Write(&bytes.Buffer{}, r); !errors.Is(err, report.ErrRelease) {
		t.Errorf("a start value that is no number: %v", err)
	}
	r.Start = nil
	for _, want := range []string{"1.96 standard deviations", "not confidence intervals", "0.375 to 0.625", "They assume fair weather"} {
		if !strings.Contains(page(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
