package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// A linear rule tells how far its coefficients may be off, rounded up, and a policy how often it differs from what was done.
func TestALearnedPolicyIsToldWithItsErrors(t *testing.T) {
	r := &evaluate.Release{
		Public: map[string]any{"learned_from": 100, "action_names": []string{"none", "drug"}},
		Learned: &evaluate.Learned{
			Policy:     evaluate.PolicyFile{Kind: "soft-greedy", Inputs: []string{"age"}, Weights: [][]float64{{-0.25}, {0.5}}, Intercept: []float64{0.25, -0.25}},
			Deviations: []float64{0.5, 0.1}, OverLogged: 0.1, OverConstant: 0.2,
			Differs: &evaluate.Estimate{Value: 0.5, Interval: [2]float64{0.424, 0.576}},
		},
	}
	if rule, want := report.Rule(r)[0].Text, "if −0.5 (± 0.98) + 0.75 (± 0.2) age is above 0: drug"; rule != want {
		t.Errorf("%q, want %q", rule, want)
	}
	if said, want := report.Certificates(r), "It differs from what was done in 50% of decisions (90% interval 42% to 58%)."; !slices.Contains(said, want) {
		t.Errorf("%q; want %q", said, want)
	}
	r.Notes = []string{"learned - action 1: Missing mass: 4%", "Note: learned - action 1"}
	if said, want := report.Notes(r), []string{"learned - drug: Missing mass: 4%", r.Notes[1]}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	r.Learned.Deviations, r.Learned.Differs = nil, nil
	if text := report.Rule(r)[0].Text + strings.Join(report.Certificates(r), ""); strings.Contains(text, "±") || strings.Contains(text, "differs") {
		t.Errorf("nothing is known of errors: %q", text)
	}
}
