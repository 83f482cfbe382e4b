package report_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

func distributionRelease() *evaluate.Release {
	r := scalarRelease()
	r.Method, r.JointConfidence = "dp-distribution", 0.95
	r.Answers = []evaluate.PolicyAnswer{{Name: "quantile 0.5", Kind: evaluate.OfPolicy,
		Estimate: &evaluate.Estimate{Value: 0.5, Interval: [2]float64{-1, 1}, Confidence: 0.95, Sampling: evaluate.Paid, StdPrivacy: 0.25}}}
	r.Public = map[string]any{"gamma": 1.0, "persons": int64(160), "horizon": int64(1), "return": evaluate.Range{Min: -1, Max: 3}, "parameters": map[string]any{"discrete": false}}
	r.Distribution = &evaluate.Distribution{Ends: []float64{0, 1, 3}, Function: evaluate.Curve{Values: []float64{0.25, 0.625, 1}, Lower: []float64{0.125, 0.5, 1}, Upper: []float64{0.375, 0.75, 1}}}
	return r
}

// The page has the curve from the least return on, the numbers of its table, and what it says.
func TestADistributionIsDrawn(t *testing.T) {
	page := render(t, distributionRelease())
	for _, want := range []string{
		"How returns are distributed", "Quantiles and means of tails", "probability of a return of at most that",
		`d="M0 1000.00L`, // from -1 and 0
		`<td class="number">0.625</td><td class="number">0.500 to 0.750</td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	r := distributionRelease()
	r.Public["parameters"] = map[string]any{"discrete": true}
	if page := render(t, r); !strings.Contains(page, "The curve steps at the listed returns") {
		t.Error("the page of listed returns does not say that they are")
	}
}

// What cannot be drawn truthfully is refused.
func TestOddDistributionsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*evaluate.Distribution){
		"no ends":         func(d *evaluate.Distribution) { *d = evaluate.Distribution{} },
		"ends that fall":  func(d *evaluate.Distribution) { d.Ends[1] = -1 },
		"a limit above 1": func(d *evaluate.Distribution) { d.Function.Upper[0] = 1.5 },
		"reversed limits": func(d *evaluate.Distribution) { d.Function.Lower[0] = 0.5 },
		"too few limits":  func(d *evaluate.Distribution) { d.Function.Lower = d.Function.Lower[1:] },
		"a value below 0": func(d *evaluate.Distribution) { d.Function.Values[0] = -0.5 },
	} {
		r := distributionRelease()
		change(r.Distribution)
		if err := report.Write(io.Discard, r); !errors.Is(err, report.ErrRelease) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
