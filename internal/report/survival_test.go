package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

func pointer(x float64) *float64 { return &x }

// survivalRelease compares two arms over four bins that end at 1, 2, 4 and 5; the second arm has
// enough persons for the first two of them. Its numbers are made up, and consistent.
func survivalRelease() *evaluate.Release {
	mean := func(v, low, high float64) evaluate.Estimate {
		return evaluate.Estimate{Value: v, Interval: [2]float64{low, high}, Confidence: 0.95, StdSampling: 0.1, Sampling: evaluate.Paid, StdPrivacy: 0.2, Clipping: [2]float64{0.0625, 0.125}}
	}
	cause := func(name string, values, lower, upper []float64) evaluate.CauseIncidence {
		return evaluate.CauseIncidence{Cause: name, Curve: evaluate.Curve{Values: values, Lower: lower, Upper: upper}}
	}
	first := evaluate.SurvivalArm{
		Name: "new drug", AtRisk: []float64{80.6, 71.25, 40, -3.4}, RestrictedMean: mean(3.4567, 3.0121, 3.9019), MissingShare: 0.031,
		Survival: evaluate.Curve{Values: []float64{0.9, 0.8, 0.4, 0.25}, Lower: []float64{0.8, 0.7, 0.3, 0.1}, Upper: []float64{1, 0.9, 0.6, 0.5}},
		Median:   &evaluate.Median{Lower: 2, Value: pointer(4), Upper: pointer(5)},
		Incidence: []evaluate.CauseIncidence{
			cause("death", []float64{0.05, 0.1, 0.4, 0.5}, []float64{0, 0.05, 0.2, 0.3}, []float64{0.1, 0.2, 0.6, 0.75}),
			cause("transplant", []float64{0.05, 0.1, 0.2, 0.25}, []float64{0, 0, 0.1, 0.1}, []float64{0.1, 0.2, 0.3, 0.4}),
		},
	}
	second := evaluate.SurvivalArm{
		Name: "placebo", AtRisk: []float64{79.5, 61, 12.4, 0.5}, RestrictedMean: mean(3, 2.5, 3.75), MissingShare: -0.01,
		Survival: evaluate.Curve{Values: []float64{0.75, 0.6}, Lower: []float64{0.6, 0.5, 0, 0}, Upper: []float64{0.9, 0.8, 0.8, 0.8}},
		Median:   &evaluate.Median{Lower: 1},
		Incidence: []evaluate.CauseIncidence{
			cause("death", []float64{0.2, 0.3}, []float64{0.1, 0.2, 0.2, 0.2}, []float64{0.3, 0.4, 1, 1}),
			cause("transplant", []float64{0.05, 0.1}, []float64{0, 0, 0, 0}, []float64{0.1, 0.2, 1, 1}),
		},
	}
	r := scalarRelease()
	contrast := mean(0.4567, -0.4201, 1.2345)
	r.Method = "dp-survival"
	r.Answers = []evaluate.PolicyAnswer{{Name: "new drug - placebo", Kind: evaluate.OfContrast, Estimate: &contrast}}
	r.Survival = &evaluate.Survival{
		Time: "time until death or transplant", Ends: []float64{1, 2, 4, 5}, Until: 4, Arms: []evaluate.SurvivalArm{first, second},
		Differences: []evaluate.SurvivalDifference{{Name: "new drug - placebo", Curve: evaluate.Curve{
			Values: []float64{0.15, 0.2}, Lower: []float64{-0.05, 0, -0.25, -0.45}, Upper: []float64{0.3, 0.4, 0.45, 0.5}}}},
	}
	r.Diagnostics = map[string]any{"cells": []float64{4, 2, -1}}
	r.Privacy.Event, r.Privacy.Delta = dp.DiscreteLaplace{Scale: 2, Norm: 1}, 0
	r.Public = map[string]any{
		"gamma": 1.0, "persons": int64(160), "horizon": int64(1), "on_policy": true, "target": "the policy that made the data",
		"return": evaluate.Range{Max: 4}, "until": 4.0, "control": "placebo", "noise_std": 2.8,
	}
	r.Expected = evaluate.Expected{StdPrivacy: 0.2, StdSampling: 0.1, HalfWidth: 0.5, Constant: 4}
	return r
}

// armRelease has so many arms and no control; of one, a single answer.
func armRelease(arms int) *evaluate.Release {
	r := survivalRelease()
	one := r.Survival.Arms[0]
	r.Survival.Arms, r.Survival.Differences, r.Answers, r.Expected.Constant = nil, nil, nil, 2
	for i := range arms {
		a := one
		a.Name = fmt.Sprintf("arm %d", i+1)
		r.Survival.Arms = append(r.Survival.Arms, a)
		e := a.RestrictedMean
		answer := evaluate.PolicyAnswer{Name: a.Name, Kind: evaluate.OfGroup, Estimate: &e}
		if arms == 1 {
			answer.Name, answer.Kind = "value", evaluate.OfPolicy
		}
		r.Answers = append(r.Answers, answer)
	}
	if arms > 1 {
		r.JointConfidence = 0.95
	}
	return r
}

// survivalReference is a release without privacy.
func survivalReference() *evaluate.Release {
	r := survivalRelease()
	r.Method, r.Privacy, r.Ledger, r.Notes, r.Expected = "survival", nil, nil, nil, evaluate.Expected{}
	r.Answers[0].Estimate.Sampling, r.Answers[0].Estimate.StdPrivacy = evaluate.NotPrivate, 0
	return r
}

// survivals are releases of survival of every shape.
func survivals() map[string]*evaluate.Release {
	open, missing := survivalRelease(), survivalRelease()
	open.Answers[0].Estimate.Interval = [2]float64{-4, 4}
	missing.Survival.Arms[1].MissingShare = 0.25
	noise, single := survivalRelease(), survivalRelease()
	noise.Answers[0].Estimate.StdPrivacy = 100
	single.Survival.Arms[0].Incidence, single.Survival.Arms[1].Incidence = nil, nil
	nothing := survivalRelease()
	nothing.Survival.Arms[1].Survival.Values, nothing.Survival.Arms[1].Median = []float64{}, nil
	long := survivalRelease()
	long.Survival.Time = strings.Repeat("time until something that takes many words ", 4)
	long.Survival.Arms[0].Name = strings.Repeat("name ", 12)
	gaussian := survivalRelease()
	gaussian.Privacy.Event = dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 2}, dp.DiscreteGaussian{Sigma: 2, Norm: 1}}}
	return map[string]*evaluate.Release{
		"survival": survivalRelease(), "survival, one arm": armRelease(1), "survival, two arms": armRelease(2), "survival, five arms": armRelease(5),
		"survival, reference": survivalReference(), "survival, open": open, "survival, missing": missing, "survival, noise": noise,
		"survival, one cause": single, "survival, nothing known": nothing, "survival, long": long, "survival, Gaussian": gaussian,
	}
}

// flat is the text of a page with single spaces.
func flat(root *element) string { return strings.Join(strings.Fields(root.text), " ") }

// The answer has its name, on the range that it can lie in.
func TestTheAnswerOfSurvivalIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ quantity, on string }{
		"survival":           {"0.4567 difference of restricted means, new drug − placebo", "on the public range of a difference of restricted means"},
		"survival, one arm":  {"3.457 restricted mean", "on the public range of a restricted mean"},
		"survival, two arms": {"Restricted mean of each arm", "2 intervals, which hold simultaneously with probability 95%"},
	} {
		if text := flat(mustParse(t, render(t, survivals()[name]))); !strings.Contains(text, c.quantity) || !strings.Contains(text, c.on) {
			t.Errorf("%s: the page lacks %q or %q: %.900s", name, c.quantity, c.on, text)
		}
	}
	root := mustParse(t, render(t, survivalRelease()))
	// The range of the difference is -4 to 4: its middle is 0, and -0.4201 lies at 44.749%.
	if x := root.find("rect", "both")[0].attrs["x"]; x != "44.749%" {
		t.Errorf("the interval starts at %s", x)
	}
	for r, want := range map[*evaluate.Release]string{
		survivalRelease(): "difference of restricted means, new drug - placebo", armRelease(1): "restricted mean", armRelease(3): "restricted mean", scalarRelease(): "",
	} {
		if got := report.Quantity(r); got != want {
			t.Errorf("quantity %q; want %q", got, want)
		}
	}
}

// No page of survival speaks of what it has nothing to do with: the words are sought in pages
// without the statements that releases themselves bring along.
func TestNoFalseWordsOnPagesOfSurvival(t *testing.T) {
	wrong := regexp.MustCompile(`(?i)\b(returns?|polic(y|ies)|values?|clip\w*|rewards?|weights?|target|logged|confounding|better)\b`)
	for name, r := range survivals() {
		text := flat(mustParse(t, render(t, r)).find("main", "")[0])
		for _, at := range wrong.FindAllStringIndex(text, -1) {
			t.Errorf("%s: ...%s...", name, text[max(at[0]-60, 0):min(at[1]+40, len(text))])
		}
	}
}

// An arm is told with its limits rounded outward, and with what is not known in words.
func TestArmsOfSurvival(t *testing.T) {
	r := survivalRelease()
	arms := report.Arms(r)
	for i, want := range []string{
		"new drug: restricted mean 3.457 [3.012, 3.902], median 4 [2, 5], survival at 5 0.25 [0.10, 0.50], outcome missing 3.1%",
		"placebo: restricted mean 3 [2.5, 3.75], median not reached [1, not reached], survival at 2 0.60 [0.50, 0.80], outcome missing below noise",
	} {
		if got := arms[i].String(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	if arms := report.Arms(scalarRelease()); arms != nil {
		t.Errorf("a release without survival has arms: %v", arms)
	}
	r.Public["records"] = "complete"
	r.Survival.Arms[0].Survival = evaluate.Curve{Lower: []float64{0.1, 0, 0, 0}, Upper: []float64{1, 1, 1, 1}}
	r.Survival.Arms[1].Survival = evaluate.Curve{Values: []float64{1, 0.995, 0.9, 0.9}, Lower: []float64{0.9, 0.8, 0.75, 0.7}, Upper: []float64{1, 1, 1, 0.9999}}
	r.Survival.Arms[0].Median, r.Survival.Arms[1].Median = nil, nil
	for i, want := range []string{
		"new drug: restricted mean 3.457 [3.012, 3.902], median not known",
		"placebo: restricted mean 3 [2.5, 3.75], median not reached, survival at 5 0.90 [0.70, 1.00]",
	} {
		if got := report.Arms(r)[i].String(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	if got := report.LeftOpen(r); strings.Contains(got, "missing") {
		t.Errorf("complete records: %q", got)
	}
	delete(r.Public, "records")
	if got := report.LeftOpen(r); !strings.Contains(got, "missing outcomes") {
		t.Errorf("records may be missing: %q", got)
	}
}

// Many outcomes that cannot be used are told at the top; few, or as many as noise makes, are not.
func TestMissingOutcomesAreTold(t *testing.T) {
	r := survivalRelease()
	for _, c := range []struct {
		share, noise float64
		told         bool
	}{{0.05, 2.8, false}, {0.25, 2.8, true}, {0.25, 20, false}} {
		r.Survival.Arms[1].MissingShare, r.Public["noise_std"] = c.share, c.noise
		why := report.InPart(r)
		if told := strings.Contains(why, "placebo: about 25% of the persons"); told != c.told || told != (why != "") {
			t.Errorf("share %v with noise %v: %q", c.share, c.noise, why)
		}
	}
}

// What an interval of a difference shows is which time is longer, which need not be better.
func TestSeveralDifferencesOfSurvival(t *testing.T) {
	r := survivalRelease()
	longer, shorter := *r.Answers[0].Estimate, *r.Answers[0].Estimate
	longer.Interval, shorter.Interval = [2]float64{0.25, 1}, [2]float64{-1, -0.25}
	r.JointConfidence = 0.95
	r.Answers = append(r.Answers, evaluate.PolicyAnswer{Name: "b - placebo", Kind: evaluate.OfContrast, Estimate: &longer},
		evaluate.PolicyAnswer{Name: "c - placebo", Kind: evaluate.OfContrast, Estimate: &shorter})
	text := flat(mustParse(t, render(t, r)))
	for _, want := range []string{"Differences of restricted means", "new drug − placebo: the data do not show which is longer", "b − placebo: longer in b than in placebo", "c − placebo: longer in placebo than in c"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// A release whose curves do not fit its bins, or leave the range of a probability, has no page.
func TestMalformedSurvivalIsRefused(t *testing.T) {
	arm := func(r *evaluate.Release) *evaluate.SurvivalArm { return &r.Survival.Arms[1] }
	for name, spoil := range map[string]func(*evaluate.Release){
		"no bins":           func(r *evaluate.Release) { r.Survival.Ends = nil },
		"no arms":           func(r *evaluate.Release) { r.Survival.Arms = nil },
		"bins fall":         func(r *evaluate.Release) { r.Survival.Ends[1] = 0.5 },
		"bin at 0":          func(r *evaluate.Release) { r.Survival.Ends[0] = 0 },
		"bin":               func(r *evaluate.Release) { r.Survival.Ends[3] = math.Inf(1) },
		"until":             func(r *evaluate.Release) { r.Survival.Until = math.NaN() },
		"until no end":      func(r *evaluate.Release) { r.Survival.Until = 3 },
		"at risk":           func(r *evaluate.Release) { arm(r).AtRisk[0] = math.NaN() },
		"few at risk":       func(r *evaluate.Release) { arm(r).AtRisk = arm(r).AtRisk[:3] },
		"value":             func(r *evaluate.Release) { arm(r).Survival.Values[0] = math.NaN() },
		"many values":       func(r *evaluate.Release) { arm(r).Survival.Values = make([]float64, 5) },
		"few lower":         func(r *evaluate.Release) { arm(r).Survival.Lower = make([]float64, 3) },
		"no upper":          func(r *evaluate.Release) { arm(r).Survival.Upper = nil },
		"above 1":           func(r *evaluate.Release) { arm(r).Survival.Upper[0] = 1.5 },
		"below 0":           func(r *evaluate.Release) { arm(r).Survival.Lower[0] = -0.5 },
		"limits reversed":   func(r *evaluate.Release) { arm(r).Survival.Lower[0] = 0.95 },
		"incidence":         func(r *evaluate.Release) { arm(r).Incidence[1].Upper[2] = math.Inf(1) },
		"a cause is gone":   func(r *evaluate.Release) { arm(r).Incidence = arm(r).Incidence[:1] },
		"another cause":     func(r *evaluate.Release) { arm(r).Incidence[0].Cause = "x" },
		"difference":        func(r *evaluate.Release) { r.Survival.Differences[0].Lower[0] = -1.5 },
		"short difference":  func(r *evaluate.Release) { r.Survival.Differences[0].Upper = nil },
		"restricted mean":   func(r *evaluate.Release) { arm(r).RestrictedMean.Value = math.NaN() },
		"no mean":           func(r *evaluate.Release) { arm(r).RestrictedMean = evaluate.Estimate{} },
		"median":            func(r *evaluate.Release) { arm(r).Median.Lower = math.NaN() },
		"medians reversed":  func(r *evaluate.Release) { arm(r).Median.Value = pointer(0.5) },
		"share of missing":  func(r *evaluate.Release) { arm(r).MissingShare = math.Inf(-1) },
		"cells":             func(r *evaluate.Release) { r.Diagnostics["cells"] = math.NaN() },
		"nothing but a bin": func(r *evaluate.Release) { r.Survival = &evaluate.Survival{Ends: []float64{1}, Until: 1} },
	} {
		r := survivalRelease()
		spoil(r)
		var b bytes.Buffer
		if err := report.Write(&b, r); !errors.Is(err, report.ErrRelease) || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes written; want ErrRelease and none", name, err, b.Len())
		}
	}
}

// Names of arms and causes are text wherever they stand.
func TestHostileNamesInSurvivalAreOnlyText(t *testing.T) {
	hostile := `</svg><script>alert(1)</script>" onload='x`
	named := func(text string) *element {
		r := survivalRelease()
		r.Survival.Time, r.Answers[0].Name, r.Survival.Differences[0].Name = text, text, text
		for i := range r.Survival.Arms {
			r.Survival.Arms[i].Name, r.Survival.Arms[i].Incidence[0].Cause = text, text
		}
		return mustParse(t, render(t, r))
	}
	root := named(hostile)
	checkInert(t, root)
	names := func(e *element) (out []string) {
		e.walk(func(x *element) { out = append(out, x.name) })
		return out
	}
	if !slices.Equal(names(root), names(named("harmless"))) {
		t.Error("hostile names change the elements of the page")
	}
}

// The page says what the noise is on, and speaks of the unit of the release.
func TestCountsAreSaidToBeCounts(t *testing.T) {
	for name, want := range map[string]string{
		"survival": "Whole-number Laplace noise on every count of a table in which each person counts once.", "survival, Gaussian": "Whole-number Gaussian noise on every count",
	} {
		if tree := mustParse(t, render(t, survivals()[name])).find("ul", "tree")[0]; !strings.Contains(tree.text, want) {
			t.Errorf("%s: %s", name, tree.text)
		}
	}
	r := survivalRelease()
	r.Privacy.Unit = evaluate.Episode
	if page := render(t, r); !strings.Contains(page, "too few episodes are at risk") || strings.Contains(page, "too few persons") {
		t.Error("the captions do not speak of the unit")
	}
}
