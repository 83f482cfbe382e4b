// What is drawn on a page: charts to their scale, and lines that follow the values.

package report_test

import (
	"math"
	"strings"
	"testing"
)

// A spread of 4 and 3 splits the variance 64 to 36, and the interval lies where
// arithmetic puts it on the public range [0, 2].
func TestChartsAreToScale(t *testing.T) {
	root := mustParse(t, render(t, scalarRelease()))
	stack := root.find("svg", "stack")[0]
	if got := stack.children[0].attrs["width"] + " " + stack.children[1].attrs["width"]; got != "64.000% 36.000%" {
		t.Errorf("shares %s", got)
	}
	both := root.find("rect", "both")[0]
	if x, w := both.attrs["x"], both.attrs["width"]; x != "20.721%" || w != "9.796%" {
		t.Errorf("the interval is drawn at %s, %s wide", x, w)
	}
	if x := root.find("line", "baseline")[0].attrs["x1"]; x != "50.000%" {
		t.Errorf("the middle of the range is drawn at %s", x)
	}
	bars := map[string]float64{}
	for _, class := range []string{"sampling", "privacy"} {
		v, err := number(root.find("rect", class)[0].attrs["width"])
		if err != nil {
			t.Fatal(err)
		}
		bars[class] = v
	}
	if r := bars["sampling"] / bars["privacy"]; math.Abs(r-4.0/3) > 1e-4 {
		t.Errorf("bars of 0.04 and 0.03 are as %v to 1", r)
	}
}

func TestTheStepLineFollowsTheValues(t *testing.T) {
	r := functionRelease(4)
	r.Values = []float64{0, 2, 1, 0}
	path := mustParse(t, render(t, r)).find("path", "steps")[0].attrs["d"]
	// The axis is [0, 2] widened by 2% at both ends: 2 is at 1000*0.02/1.04.
	if want := "M0 980.77H250.00V19.23H500.00V500.00H750.00V980.77H1000.00"; path != want {
		t.Errorf("path %s, want %s", path, want)
	}
}

func TestASpikeAmongManyStatesIsDrawn(t *testing.T) {
	r := functionRelease(100_000)
	for i := range r.Values {
		r.Values[i] = 0.5
	}
	r.Values[77_777] = 2
	page := render(t, r)
	path := mustParse(t, page).find("path", "extent")[0].attrs["d"]
	if !strings.Contains(path, " 18.23H") { // one unit above 2's place
		t.Error("the spike is lost")
	}
	if len(page) > 200_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if !strings.Contains(page, "99000 more are in the JSON form") {
		t.Error("states that are not listed are not counted")
	}
}
