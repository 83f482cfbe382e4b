package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// missingRelease has an interval of which the missing share is a part.
func missingRelease(share, sd float64) *evaluate.Release {
	r := scalarRelease()
	r.Expected.Constant, r.Answers[0].Estimate.Interval, r.Answers[0].Estimate.Clipping = 1, [2]float64{0.2, 1.4}, [2]float64{0.25, 0.75}
	r.Answers[0].Diagnostics = map[string]any{"missing_mass": map[string]float64{"share": share, "share_std": sd}}
	return r
}

// TestMissingMassIsInTheHeadline: what the data do not vouch for is told above the value
// where it is a tenth or more and not noise, and is why there is no answer where the
// interval covers the range; on the page it is the third part of the interval.
func TestMissingMassIsInTheHeadline(t *testing.T) {
	for name, c := range map[string]struct {
		share, sd  float64
		everything bool
		part, none bool
	}{
		"little":          {0.04, 0.01, false, false, false},
		"a part":          {0.3, 0.05, false, true, false},
		"noise":           {0.3, 0.2, false, false, false},
		"most, no answer": {0.92, 0.03, true, false, true},
		"most":            {0.92, 0.03, false, true, false},
		"wide by noise":   {0.02, 0.01, true, false, true},
	} {
		r := missingRelease(c.share, c.sd)
		if c.everything {
			r.Answers[0].Estimate.Interval = [2]float64{0, 2}
		}
		for _, form := range []*evaluate.Release{r, again(t, r)} {
			part, none := report.InPart(form), report.Unanswered(form)
			if (part != "") != c.part || (none != "") != c.none {
				t.Errorf("%s: in part %q, unanswered %q", name, part, none)
			}
			if said := strings.Contains(part+none, "92% of what the target policy would do"); said != (c.share == 0.92) {
				t.Errorf("%s: %q %q", name, part, none)
			}
			if words := part + none; c.share == 0.92 && !strings.Contains(words, "left out") {
				t.Errorf("%s: %q does not say that missing mass may be episodes that were left out", name, words)
			}
			var page bytes.Buffer
			if err := report.Write(&page, form); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"sampling alone", "privacy alone", "missing mass alone", "− 0.25", "Missing mass"} {
				if !strings.Contains(page.String(), want) {
					t.Errorf("%s: the page does not say %q", name, want)
				}
			}
			if strings.Contains(page.String(), "rare outcomes") || strings.Contains(page.String(), "The data answer only a part") != c.part {
				t.Errorf("%s: the page names another part, or has another headline", name)
			}
		}
	}
}

// again is a release that was written and read.
func again(t *testing.T, r *evaluate.Release) *evaluate.Release {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	out := new(evaluate.Release)
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTheAnswerThatLacksMostIsNamedAsElsewhere: by the word of its action.
func TestTheAnswerThatLacksMostIsNamedAsElsewhere(t *testing.T) {
	r := missingRelease(0.3, 0.02)
	r.Public["learned_from"], r.Public["action_names"] = 100, []string{"none", "drug"}
	other := r.Answers[0]
	other.Name = "learned - action 1"
	r.Answers = append(r.Answers, other)
	r.Answers[0].Diagnostics = nil
	if got := report.InPart(r); !strings.HasPrefix(got, "learned - drug: The data say nothing about 30%") {
		t.Error(got)
	}
	if got := report.InPart(r); strings.Contains(got, "It lacks most") {
		t.Errorf("one answer lacks, and it says: %s", got)
	}
	second := other
	second.Name = "learned"
	r.Answers = append(r.Answers, second)
	if got := report.InPart(r); !strings.HasSuffix(got, " It lacks most of 2 answers that lack 10% or more.") {
		t.Error(got)
	}
}

// TestConfoundingIsNamedAsWhatIsMissing: with a factor the headline, the page and the
// words of no answer name it; without one they do not.
func TestConfoundingIsNamedAsWhatIsMissing(t *testing.T) {
	for _, factor := range []float64{0, 1.5} {
		for _, everything := range []bool{false, true} {
			r := missingRelease(0.6, 0.02)
			if everything {
				r.Answers[0].Estimate.Interval = [2]float64{0, 2}
			}
			if factor > 0 {
				r.Public["confounding"] = factor
			}
			var page bytes.Buffer
			if err := report.Write(&page, again(t, r)); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{report.InPart(r) + report.Unanswered(r), page.String()} {
				if strings.Contains(text, "stated factor of 1.5") != (factor > 0) {
					t.Errorf("factor %v, no answer %v: %s", factor, everything, report.InPart(r)+report.Unanswered(r))
				}
			}
		}
	}
}

// TestRefutedProbabilitiesAreTheHeadline, of one answer or of several, before all else.
func TestRefutedProbabilitiesAreTheHeadline(t *testing.T) {
	one := missingRelease(0, 0.05)
	one.Answers[0].Diagnostics["weights_refuted"] = map[string]float64{"mean_weight": 2.339, "mean_weight_std": 0.05}
	several := missingRelease(0, 0.05)
	several.Answers = []evaluate.PolicyAnswer{{Name: "a", Kind: evaluate.OfPolicy, Estimate: several.Answers[0].Estimate}, {Name: "b", Kind: evaluate.OfPolicy, Estimate: several.Answers[0].Estimate, Diagnostics: one.Answers[0].Diagnostics}}
	several.JointConfidence = 0.95
	for name, r := range map[string]*evaluate.Release{"one": one, "several": several} {
		r = again(t, r)
		if why := report.Unanswered(r); !strings.Contains(why, "mean weight of a person is 2.339,") || report.InPart(r) != "" {
			t.Errorf("%s: %q, in part %q", name, why, report.InPart(r))
		}
		var page bytes.Buffer
		if err := report.Write(&page, r); err != nil {
			t.Fatal(err)
		}
		if text := page.String(); !strings.Contains(text, "The probabilities of the logged actions are wrong") || strings.Contains(text, "A larger ε, more persons") {
			t.Errorf("%s: the page has another headline", name)
		}
	}
}

// TestWhatNeedsNoGuardAllowsForNothing: where by the design nothing is missing the page does
// not say that the interval allows for it, unless the mean weight contradicts the design.
func TestWhatNeedsNoGuardAllowsForNothing(t *testing.T) {
	for name, c := range map[string]struct {
		share, sd float64
		tier      int
		unguarded bool
	}{
		"by the design":         {0.03, 0.02, 0, true},
		"a lack of next to nil": {0.004, 0.001, 0, true},
		"contradicted":          {0.3, 0.02, 0, false},
		"guarded":               {0.03, 0.02, 2, false},
	} {
		r := missingRelease(c.share, c.sd)
		r.Public["tier"] = c.tier
		var page bytes.Buffer
		if err := report.Write(&page, r); err != nil {
			t.Fatal(err)
		}
		text := page.String()
		if got := report.Unguarded(r); got != c.unguarded || strings.Contains(text, "does not allow for missing weight") != c.unguarded || strings.Contains(text, "holds the value whatever is missing") == c.unguarded {
			t.Errorf("%s: unguarded %v, want %v; the page says\n%s", name, got, c.unguarded, text)
		}
	}
}
