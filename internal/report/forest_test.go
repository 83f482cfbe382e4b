package report_test

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// severalRelease has two values, their difference and which is best.
func severalRelease() *evaluate.Release {
	estimate := func(v, low, high float64) *evaluate.Estimate {
		return &evaluate.Estimate{Value: v, Interval: [2]float64{low, high}, Confidence: 0.98, StdSampling: 0.1, Sampling: evaluate.Paid, StdPrivacy: 0.1}
	}
	missing := map[string]any{"missing_mass": map[string]float64{"share": 0.25}}
	r := scalarRelease()
	r.JointConfidence, r.Expected.Constant = 0.95, 10 // of a difference
	r.Answers = []evaluate.PolicyAnswer{
		{Name: "new <way>", Kind: evaluate.OfPolicy, Estimate: estimate(6, 5, 8)},
		{Name: "old", Kind: evaluate.OfPolicy, Estimate: estimate(3, 2, 4), Diagnostics: missing},
		{Name: "new <way> - old", Kind: evaluate.OfContrast, Estimate: estimate(3, 1, 4)},
		{Name: "best", Kind: evaluate.OfChoice, Selection: &evaluate.Selection{Policy: "new <way>", MayBeBest: []string{"new <way>"}, Regret: new(float64)}},
	}
	return r
}

// TestForestIsDrawnToScale: the axis of values reaches from 2 to 8, that of
// differences from 0 to 4.
func TestForestIsDrawnToScale(t *testing.T) {
	r := severalRelease()
	for i, want := range []string{"   ├●─┤", "├●┤    ", "", ""} {
		if want == "" {
			continue
		}
		if got := report.Forest(r, i, 7); got != want {
			t.Errorf("%s: %q; want %q", r.Answers[i].Name, got, want)
		}
	}
	if got := report.Forest(r, 2, 9); got != "0 ├───●─┤" {
		t.Errorf("difference: %q", got)
	}
	if got := report.Forest(r, 3, 9); got != "" {
		t.Errorf("selection: %q", got)
	}
	if n := report.Intervals(r); n != 3 {
		t.Errorf("%d intervals", n)
	}
}

// TestPageOfSeveralPolicies holds every name, interval, what a difference shows and
// which is best, as text.
func TestPageOfSeveralPolicies(t *testing.T) {
	var page strings.Builder
	if err := report.Write(&page, severalRelease()); err != nil {
		t.Fatal(err)
	}
	root, err := parse(page.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"How policies compare", "3 intervals, which hold simultaneously with probability 95%", "What each policy is worth", "Differences between policies",
		"new <way> − old: new <way> is better than old", "in units of a return", "missing mass 25%", "new <way> has the largest lower limit", "May be best: new <way>.",
	} {
		if !strings.Contains(root.text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(page.String(), "<way>") {
		t.Error("a name is on the page unescaped")
	}
}

// TestPageNamesNoPolicyWhereLimitsTie, and says so.
func TestPageNamesNoPolicyWhereLimitsTie(t *testing.T) {
	r := severalRelease()
	r.Answers[3].Selection = &evaluate.Selection{MayBeBest: []string{"new <way>", "old"}}
	var page strings.Builder
	if err := report.Write(&page, r); err != nil {
		t.Fatal(err)
	}
	root, err := parse(page.String())
	if err != nil {
		t.Fatal(err)
	}
	if want := "No policy is named: several have the largest value or limit. May be best: new <way>, old."; !strings.Contains(root.text, want) || strings.Contains(root.text, "less than the best") {
		t.Errorf("the page does not say %q, or names a policy", want)
	}
}

// TestAnswersThatCannotBeShown are refused.
func TestAnswersThatCannotBeShown(t *testing.T) {
	for name, change := range map[string]func(r *evaluate.Release){
		"value":            func(r *evaluate.Release) { r.Answers[0].Estimate.Value = math.NaN() },
		"interval":         func(r *evaluate.Release) { r.Answers[2].Estimate.Interval = [2]float64{2, 1} },
		"regret":           func(r *evaluate.Release) { *r.Answers[3].Selection.Regret = math.Inf(1) },
		"no regret":        func(r *evaluate.Release) { r.Answers[3].Selection.Regret = nil },
		"nobody's regret":  func(r *evaluate.Release) { r.Answers[3].Selection.Policy = "" },
		"joint confidence": func(r *evaluate.Release) { r.JointConfidence = math.NaN() },
		"diagnostics":      func(r *evaluate.Release) { r.Answers[1].Diagnostics["x"] = math.NaN() },
	} {
		r := severalRelease()
		change(r)
		if err := report.Write(new(strings.Builder), r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestUnansweredWhereNoAnswerTells: the range of a value is 10 wide, that of a
// difference 20.
func TestUnansweredWhereNoAnswerTells(t *testing.T) {
	r := severalRelease()
	for i, e := range [][2]float64{{0, 9.5}, {0.5, 10}, {-10, 9}} {
		if i == 2 {
			if why := report.Unanswered(r); why != "" {
				t.Errorf("the difference tells something: %q", why)
			}
		}
		r.Answers[i].Estimate.Interval = e
	}
	if report.Unanswered(r) == "" {
		t.Error("no interval tells anything, and nothing is said")
	}
}

// What was expected of each answer stands among the public parameters in words.
func TestExpectedAnswersAreNotJSON(t *testing.T) {
	r := severalRelease()
	r.Public["answers"] = []evaluate.ExpectedAnswer{{Name: "new", Kind: evaluate.OfPolicy, Range: evaluate.Range{Min: 0, Max: 10}, HalfWidth: 1.5}}
	if text := mustParse(t, render(t, r)).text; !strings.Contains(text, "(policy, half_width 1.5, name new, range 0 to 10,") || strings.Contains(text, `"half_width"`) {
		t.Error("the page does not say what was expected of an answer in words")
	}
}

// TestPageOfGroups shows each group with its interval and its size, exact where that is
// public, and says whom the guarantee does not hide.
func TestPageOfGroups(t *testing.T) {
	r := severalRelease()
	r.Answers = r.Answers[:2]
	r.Answers[0].Name, r.Answers[0].Kind, r.Answers[0].Diagnostics = "women", evaluate.OfGroup, map[string]any{"sums": map[string]any{"count": 271.25}}
	r.Answers[1].Name, r.Answers[1].Kind, r.Answers[1].Diagnostics = "men", evaluate.OfGroup, map[string]any{"sums": map[string]any{"count": 36.0}}
	for i, want := range []string{"about 271 persons", "36 persons"} {
		if got := report.GroupSize(r.Answers[i]); got != want {
			t.Errorf("%s: %q; want %q", r.Answers[i].Name, got, want)
		}
	}
	if got := report.GroupSize(evaluate.PolicyAnswer{Diagnostics: map[string]any{"sums": map[string]any{"count": -3.5}}}); got != "about 0 persons" {
		t.Errorf("a noisy number below 0: %q", got)
	}
	if value, difference := report.Constants(r); value != r.Expected.Constant || difference != 0 {
		t.Errorf("constants %v and %v", value, difference)
	}
	for _, c := range []struct{ group, there, missing string }{
		{"may_change", "different in any way, with", "except for the group"},
		{"fixed", "different in any way except for the group of the person, with", "way, with"},
	} {
		r.Public["by"] = map[string]any{"column": "obs_sex", "group": c.group}
		var page strings.Builder
		if err := report.Write(&page, r); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"What the policy is worth in each group", "about 271 persons", ">women<", c.there} {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s: the page lacks %q", c.group, want)
			}
		}
		if strings.Contains(page.String(), c.missing) || strings.Contains(page.String(), "Differences between policies") {
			t.Errorf("%s: the page has %q or differences", c.group, c.missing)
		}
	}
}
