// What is drawn of survival: curves and bands to their scale, and labels where they belong.

package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/evaluate"
)

// The axis reaches half a mean bin beyond the last end, to 5.625: the ends 1, 2, 4 and 5 lie at
// 177.78, 355.56, 711.11 and 888.89 of 1000.
func TestSurvivalIsDrawnToScale(t *testing.T) {
	root := mustParse(t, render(t, survivalRelease())).find("section", "survival")[0]
	paths := func(class string) (out []string) {
		for _, p := range root.find("path", class) {
			out = append(out, p.attrs["class"]+" "+p.attrs["d"])
		}
		return out
	}
	curves, bands := paths("curve"), paths("band")
	if len(curves) != 7 || len(bands) != 7 { // survival and two causes of two arms, and a difference
		t.Fatalf("%d curves and %d bands", len(curves), len(bands))
	}
	for i, want := range []string{
		"curve arm-0 M0 0.00H177.78V100.00H355.56V200.00H711.11V600.00H888.89V750.00H1000",
		"curve arm-1 M0 0.00H177.78V250.00H355.56V400.00",
		"curve arm-0 M0 1000.00H177.78V950.00H355.56V900.00H711.11V600.00H888.89V500.00H1000",
	} {
		if curves[i] != want {
			t.Errorf("curve %d: %s; want %s", i, curves[i], want)
		}
	}
	if want := "band arm-1 M0 0.00H177.78V100.00H355.56V200.00H711.11V200.00H888.89V200.00H1000V1000.00H888.89V1000.00H711.11V500.00H355.56V400.00H177.78V0.00Z"; bands[1] != want {
		t.Errorf("band %s; want %s", bands[1], want)
	}
	// The limits of the difference lie within one half, so the axis is -0.5 to 0.5 and 0 in its middle.
	if want := "curve arm-0 M0 500.00H177.78V350.00H355.56V300.00"; curves[6] != want {
		t.Errorf("difference %s; want %s", curves[6], want)
	}
	// Dots: where the curve of the second arm ends, at (2, 0.6), and in each other chart.
	dots := root.find("circle", "")
	if len(dots) != 4 || dots[0].attrs["cx"] != "35.556%" || dots[0].attrs["cy"] != "40.000%" || dots[0].attrs["class"] != "arm-1" {
		t.Errorf("%d dots, the first %v", len(dots), dots[0].attrs)
	}
	var dashed []string
	for _, l := range root.find("line", "baseline") {
		dashed = append(dashed, l.attrs["x1"]+" "+l.attrs["y1"])
	}
	// One half, and where means are restricted, in each chart of arms; zero in that of differences.
	if got, want := strings.Join(dashed, ", "), "0 500.000, 71.111% 26, 71.111% 26, 71.111% 26, 0 500.000"; got != want {
		t.Errorf("dashed lines %s; want %s", got, want)
	}
}

// texts are those of a chart in order.
func texts(svg *element) (out []string) {
	for _, x := range svg.find("text", "") {
		out = append(out, x.attrs["x"]+" "+x.text)
	}
	return out
}

// Under the axis stand the ends of bins, and the numbers at risk at the starts of bins, rounded
// and not below 0, an arm a row.
func TestNumbersAtRiskStandUnderTheAxis(t *testing.T) {
	const axis = "0 probability of survival|0.000% 0|17.778% 1|35.556% 2|71.111% 4|88.889% 5|50% time until death or transplant"
	for name, c := range map[string]struct{ release, want string }{
		"private":   {"survival", "0 Noisy number at risk"},
		"reference": {"survival, reference", "0 Number at risk"},
	} {
		page := render(t, survivals()[c.release])
		want := axis + "|" + c.want + "|34 new drug|0.000% 81|17.778% 71|35.556% 40|71.111% 0|34 placebo|0.000% 80|17.778% 61|35.556% 12|71.111% 1"
		if got := strings.Join(texts(mustParse(t, page).find("section", "survival")[0].find("svg", "wide")[0]), "|"); got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
		if noisy := strings.Contains(strings.ToLower(page), "noisy number"); noisy != (name == "private") {
			t.Errorf("%s: the page speaks of noisy numbers: %v", name, noisy)
		}
	}
}

// Labels keep their distance: of 10 bins of years in days every second has one, of bins of very
// different widths those that are far enough apart.
func TestLabelsOfTimeDoNotCollide(t *testing.T) {
	r := armRelease(1)
	for _, c := range []struct {
		ends []float64
		want string
	}{
		{[]float64{365.25, 730.5, 1095.75, 1461, 1826.25, 2191.5, 2556.75, 2922, 3287.25, 3652.5}, "0 730.5 1461 2191.5 2922 3652.5"},
		{[]float64{1, 2, 3, 6, 12, 24, 60}, "0 6 12 24 60"},
		{[]float64{6, 12, 18, 24, 30, 36, 42, 48, 54, 60}, "0 6 12 18 24 30 36 42 48 54 60"},
	} {
		n := len(c.ends)
		level := func(v float64) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = v
			}
			return out
		}
		a := &r.Survival.Arms[0]
		r.Survival.Ends, r.Survival.Until, a.AtRisk, a.Incidence = c.ends, c.ends[n-1], level(9), nil
		a.Survival = evaluate.Curve{Values: level(0.5), Lower: level(0.25), Upper: level(0.75)}
		var got []string
		for _, x := range texts(mustParse(t, render(t, r)).find("section", "survival")[0].find("svg", "wide")[0]) {
			if at, text, _ := strings.Cut(x, "% "); at != "50" && at != x {
				got = append(got, text)
			}
		}
		if all := strings.Join(got, " "); !strings.HasPrefix(all, c.want+" 9") {
			t.Errorf("labels %s; want %s", all, c.want)
		}
	}
	// Numbers at risk of three digits leave room for every second of the ten.
	for i := range r.Survival.Arms[0].AtRisk {
		r.Survival.Arms[0].AtRisk[i] = 599
	}
	if page := render(t, r); !strings.Contains(page, ">599<") || strings.Contains(page, ">6</text>") || !strings.Contains(page, ">12</text>") {
		t.Error("numbers at risk of three digits stand below every bin")
	}
}

// Of more arms than can be told apart in one chart each has one of its own, with thin lines for
// the others.
func TestManyArmsHaveAChartEach(t *testing.T) {
	root := mustParse(t, render(t, armRelease(5))).find("section", "survival")[0]
	if n := len(root.find("svg", "wide")); n != 15 { // survival and two causes of five arms
		t.Errorf("%d charts", n)
	}
	if own, other, bands := len(root.find("path", "arm-0")), len(root.find("path", "other")), len(root.find("path", "band")); own != 30 || other != 60 || bands != 15 {
		t.Errorf("%d own curves and bands, %d others, %d bands", own, other, bands)
	}
	if !strings.Contains(root.text, "Thin lines are the curves of the other arms") || len(root.find("p", "legend")) > 0 {
		t.Error("thin lines are not explained, or there is a legend")
	}
	if n := len(root.find("table", "arms")); n != 2 {
		t.Errorf("%d tables of five arms; want 2 of at most three", n)
	}
}

// All numbers are in tables, for those who cannot see a picture.
func TestCurvesAreInTables(t *testing.T) {
	root := mustParse(t, render(t, survivalRelease())).find("section", "survival")[0]
	text := flat(root)
	for _, want := range []string{
		"Restricted mean95% interval 3.4573.012 to 3.902 32.5 to 3.75", "new drug: survival", "noisy number at risk at its start", "4 40 0.400 0.300 to 0.600", "placebo: survival", "4 12 – 0.000 to 0.800",
		"placebo: death", "2 0.300 0.200 to 0.400", "new drug − placebo: survival", "1 0.150 −0.050 to 0.300",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables lack %q", want)
		}
	}
	for _, svg := range root.find("svg", "wide") {
		if svg.attrs["role"] != "img" || !strings.Contains(svg.attrs["aria-label"], "placebo") {
			t.Errorf("a chart is described as %q", svg.attrs["aria-label"])
		}
	}
	if want := "placebo: probability of survival 0.60 at time 2, limits 0.50 to 0.80. not known at time 5, limits 0.00 to 0.80. "; !strings.HasSuffix(root.find("svg", "wide")[0].attrs["aria-label"], want) {
		t.Errorf("described as %q", root.find("svg", "wide")[0].attrs["aria-label"])
	}
}

// Any well-formed release of survival, however odd, makes a page with charts that stay inside,
// and the same one from its JSON form.
func TestOddSurvivalIsDrawnInside(t *testing.T) {
	unit := rapid.Float64Range(0, 1)
	draws, passed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		// As of other odd releases: the first draws do, unless one has not passed.
		if draws == passed && passed >= 30 {
			return
		}
		draws++
		n := rapid.SampledFrom([]int{1, 2, 7, 61, 400}).Draw(rt, "bins")
		width := rapid.SampledFrom([]float64{1e-300, 0.1, 1, 1e15, 1e305}).Draw(rt, "width")
		r := armRelease(rapid.IntRange(1, 3).Draw(rt, "arms"))
		s := r.Survival
		s.Ends = make([]float64, n)
		for j := range s.Ends {
			s.Ends[j] = width * float64(j+1)
		}
		s.Until = s.Ends[rapid.IntRange(0, n-1).Draw(rt, "until")]
		curve := func() evaluate.Curve {
			c := evaluate.Curve{Values: make([]float64, rapid.IntRange(0, n).Draw(rt, "known")), Lower: make([]float64, n), Upper: make([]float64, n)}
			for j := range n {
				a, b := unit.Draw(rt, "a"), unit.Draw(rt, "b")
				c.Lower[j], c.Upper[j] = min(a, b), max(a, b)
				if j < len(c.Values) {
					c.Values[j] = a
				}
			}
			return c
		}
		same := curve()
		for i := range s.Arms {
			a := &s.Arms[i]
			a.AtRisk = make([]float64, n)
			a.AtRisk[0] = rapid.SampledFrom([]float64{0, -1e300, 1e300, 41.5}).Draw(rt, "at risk")
			a.Survival, a.Incidence = same, []evaluate.CauseIncidence{{Cause: "x", Curve: same}}
		}
		page := render(t, r)
		root := mustParse(t, page)
		checkCharts(t, root)
		for _, bad := range []string{"NaN", "Inf", "%!"} {
			if strings.Contains(root.text, bad) {
				rt.Fatalf("the page holds %q", bad)
			}
		}
		text, err := json.Marshal(r)
		if err != nil {
			rt.Fatal(err)
		}
		var again evaluate.Release
		if err := json.Unmarshal(text, &again); err != nil {
			rt.Fatal(err)
		}
		if render(t, &again) != page {
			rt.Fatal("the page from the file differs")
		}
		if t.Failed() {
			rt.FailNow()
		}
		passed++
	})
}

// Marks of the second arm can be told from the page in light and in dark.
func TestTheSecondArmCanBeSeen(t *testing.T) {
	if page := render(t, survivalRelease()); !strings.Contains(page, "--second: #d55e00") || !strings.Contains(page, "stroke-dasharray: 7 3") {
		t.Error("the second arm has no colour, or no dashes")
	}
	if page := render(t, scalarRelease()); strings.Contains(page, "--second") {
		t.Error("a page of another release has the style of survival")
	}
}
