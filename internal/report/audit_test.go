package report_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/internal/evaluate/examine"
	"github.com/discreet-rl/discreet/internal/report"
	trainexamine "github.com/discreet-rl/discreet/internal/train/examine"
	"github.com/discreet-rl/discreet/train"
)

func renderAudit(t *testing.T, a report.Audit) string {
	t.Helper()
	var b strings.Builder
	if err := report.WriteAudit(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// audited is the report of an audit with a text in every place that has one.
func audited(text string, claim audit.Claim) *examine.Report {
	return &examine.Report{Method: text, Adjacency: dp.ReplaceOne, Claim: claim, Replayed: 3, Worst: 0.5, WorstKind: text,
		SelfTest: []examine.Planted{{Mistake: text, Found: true, By: text}, {Mistake: "another"}},
		Found:    &audit.Found{Mu: 0.9, Epsilon: 1, Delta: 1e-5, Regions: []audit.Region{{Power: 0.7, Level: 0.3}}},
		Runs:     10, Power: &audit.Power{Expected: 0.9, HalfNoise: 1}, Broken: []string{text}, Missing: []string{text}}
}

// TestAuditPagesSayTheVerdict, load nothing, run nothing, and take hostile text for text.
func TestAuditPagesSayTheVerdict(t *testing.T) {
	page := renderAudit(t, report.Audit{Of: "</title><script>", Report: audited(`</td><script>alert(1)</script>' onload='x'`, audit.Claim{Mu: 1, Epsilon: 4, Delta: 1e-5})})
	root := mustParse(t, page)
	checkInert(t, root)
	if !strings.Contains(page, "It reveals more than it claims") || !strings.Contains(page, "1 of 2 found") || !strings.Contains(page, "not found") {
		t.Error("the page of a refuted claim does not say so")
	}
	well := audited("plain", audit.Claim{Mu: 1, Epsilon: 4, Delta: 1e-5})
	well.Broken = nil
	if page := renderAudit(t, report.Audit{Of: "x.yaml", Report: well}); !strings.Contains(page, "Within the claim") || strings.Contains(page, "It shows more") {
		t.Error("the page of a claim that stands does not say so")
	}
	well.Missed = []string{"another"}
	if page := renderAudit(t, report.Audit{Of: "x.yaml", Report: well}); !strings.Contains(page, "<h1>Within the claim, as far as was tested; the self-test missed 1 of 2 planted bugs: another</h1>") {
		t.Error("the headline says nothing of the mistake that was missed")
	}
	if err := report.WriteAudit(new(strings.Builder), report.Audit{}); !errors.Is(err, report.ErrRelease) {
		t.Errorf("%v; want ErrRelease", err)
	}
}

// TestAuditsDrawTheClaim: the curve has the hits that the trade-off functions allow, at
// false alarms of one half.
func TestAuditsDrawTheClaim(t *testing.T) {
	for _, c := range []struct {
		claim audit.Claim
		hits  float64
	}{
		{audit.Claim{Mu: 1, Epsilon: 4, Delta: 1e-5}, distuv.UnitNormal.CDF(1)},
		{audit.Claim{Epsilon: math.Log(3), Delta: 0.01}, 1 - (1-0.01-0.5)/3},
	} {
		page := renderAudit(t, report.Audit{Of: "x.yaml", Report: audited("x", c.claim)})
		lines := mustParse(t, page).find("polyline", "")
		if len(lines) != 1 {
			t.Fatalf("%d curves; want 1", len(lines))
		}
		found := false
		for _, point := range strings.Fields(lines[0].attrs["points"]) {
			x, y, _ := strings.Cut(point, ",")
			px, errX := number(x)
			py, errY := number(y)
			if errX != nil || errY != nil || px < 0 || px > 100 || py < px-1e-9 || py > 100 {
				t.Fatalf("a point at %q", point)
			}
			if math.Abs(px-50) < 1e-3 {
				found = math.Abs(py-100*c.hits) < 0.01
			}
		}
		if !found {
			t.Errorf("%+v: no point at one half with %.3f hits", c.claim, c.hits)
		}
	}
}

// TestAuditsOfTrainingDrawWhatWasShown: a bar for each epsilon, as long as it is large, and the curve of the claim.
func TestAuditsOfTrainingDrawWhatWasShown(t *testing.T) {
	exact := 2.0
	r := &trainexamine.Report{Randomizer: train.Randomizer{Mechanism: train.OneBit}, Dim: 3, Adjacency: dp.ReplaceOne, Claim: audit.Claim{Epsilon: 2}, Pairs: 5, Runs: 10, WorstPair: "<b>",
		Exact: &exact, Found: audit.Found{Epsilon: 1.5, Regions: []audit.Region{{Power: 0.7, Level: 0.3}}}, Once: &audit.Once{Epsilon: 1, Canaries: 9}, OncePower: &audit.OncePower{Expected: 1.9},
		SelfTest: []trainexamine.Planted{{Mistake: "a", Found: true, By: "look"}, {Mistake: "b"}}, Missed: []string{"b"}, Missing: []string{"c"}}
	page := renderAudit(t, report.Audit{Of: "train.yaml", Training: r})
	root := mustParse(t, page)
	checkInert(t, root)
	var widths []string
	for _, bar := range root.find("rect", "") {
		if bar.attrs["height"] == "4" {
			widths = append(widths, bar.attrs["width"])
		}
	}
	for i, want := range []float64{100, 100, 75, 50} {
		if len(widths) != 4 {
			t.Fatalf("%d bars; want 4", len(widths))
		}
		if got, err := number(widths[i]); err != nil || math.Abs(got-want) > 0.01 {
			t.Errorf("bar %d is %q long; want %v", i, widths[i], want)
		}
	}
	if !strings.Contains(page, "1 of 2 found") || !strings.Contains(page, "the self-test missed 1 of 2 planted bugs: b") || len(root.find("polyline", "")) != 1 {
		t.Error("the page lacks the self-test, the verdict or the curve")
	}
	if err := report.WriteAudit(new(strings.Builder), report.Audit{Report: audited("x", audit.Claim{Epsilon: 1}), Training: r}); !errors.Is(err, report.ErrRelease) {
		t.Errorf("two reports: %v; want ErrRelease", err)
	}
}
