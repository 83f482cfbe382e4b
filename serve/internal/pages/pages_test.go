package pages_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/webpage/pagetest"
	"github.com/discreet-rl/discreet/serve/internal/pages"
)

func Example() {
	var page strings.Builder
	if err := pages.Write(&page, pages.Sorry{Frame: pages.Frame{Title: "No such <page>"}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(page.String(), "<h1>No such &lt;page&gt;</h1>"))
	// Output: true
}

const hostile = pagetest.Hostile

// views are all pages with a hostile text wherever a person writes one.
func views() []pages.View {
	f := pages.Frame{Title: hostile, Person: hostile, Problem: hostile, Done: hostile}
	d := pages.Dataset{Name: hostile, About: hostile, Role: hostile, Budget: pages.Bar{Percent: 10, Words: hostile}, Unit: hostile, Adjacency: hostile, Approval: hostile, Publish: hostile, Methods: hostile, Largest: hostile, Facts: hostile}
	a := pages.Ask{ID: hostile, Dataset: hostile, Analyst: hostile, State: hostile, Reason: hostile, Purpose: hostile, Question: hostile}
	plan := &pages.Plan{Sentence: hostile, Refusal: hostile, Notes: []string{hostile}, Plot: pages.Curve{Points: []pages.Point{{.1, 3}, {1, 2}, {10, 1}}, Sampling: .5, Constant: 4, At: 1}.Plot()}
	return []pages.View{
		pages.SignIn{Frame: f, Issuer: true}, pages.SignedIn{Frame: f}, pages.Sorry{Frame: f}, pages.Datasets{Frame: f, Datasets: []pages.Dataset{d}},
		pages.OneDataset{Frame: f, Dataset: d, MayAsk: true, Steward: true, Key: hostile, Question: hostile, Purpose: hostile, Plan: plan, Shares: []pages.Share{{Analyst: hostile, Of: hostile, Budget: pages.Bar{Words: hostile}}}, Asks: []pages.Ask{a}, Next: hostile},
		pages.OneAsk{Frame: f, Ask: a, Plan: plan, MayDecide: true, MayWithdraw: true, Released: true, Findings: []string{hostile}},
		pages.Notices{Frame: f, Name: hostile, Notices: []pages.Notice{{Ask: hostile, Text: hostile}}, Next: hostile},
		pages.Audit{Frame: f, Name: hostile, Lines: []pages.Line{{Who: hostile, Address: hostile, Ask: hostile, What: hostile}}, Next: hostile},
	}
}

// What people wrote stays text, and a page asks no other host for anything and runs nothing.
func TestHostileTextStaysText(t *testing.T) {
	for _, v := range views() {
		var b bytes.Buffer
		if err := pages.Write(&b, v); err != nil {
			t.Fatal(err)
		}
		for _, fault := range pagetest.Faults(b.String()) {
			t.Errorf("%T: %s", v, fault)
		}
	}
}

// A number of failed checks is told where it is known, and none where it is not.
func TestFailedChecksAreToldWhereTheyAreKnown(t *testing.T) {
	for failed, want := range map[int64]string{-1: "<p>How many checks failed is not known", 0: "<p>0 failed checks of at most 3; ", 2: "<p>2 failed checks of at most 3; "} {
		v := pages.Notices{Most: 3}
		if failed >= 0 {
			v.Failed = &failed
		}
		var b bytes.Buffer
		if err := pages.Write(&b, v); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%d: %v, want %s in\n%s", failed, err, want, &b)
		}
	}
}

// The plot is well-formed, and its curve falls where half widths fall.
func TestPlotIsWellFormed(t *testing.T) {
	svg := string(pages.Curve{Points: []pages.Point{{.1, 3}, {1, 2}, {10, 1}}, Sampling: .5, Constant: 4, At: 1}.Plot())
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	var x, y [3]float64
	curve := regexp.MustCompile(`class="curve" d="M([\d. ]+)L([\d. ]+)L([\d. ]+)"`).FindStringSubmatch(svg)
	if curve == nil {
		t.Fatalf("no curve in %s", svg)
	}
	for i := range 3 {
		if _, err := fmt.Sscan(curve[i+1], &x[i], &y[i]); err != nil {
			t.Fatal(err)
		}
	}
	if d := (x[2] - x[1]) - (x[1] - x[0]); d > .2 || d < -.2 || !(y[0] < y[1] && y[1] < y[2]) {
		t.Errorf("points at %v, %v; want equal steps to the right, each lower", x, y)
	}
	for _, none := range []pages.Curve{{}, {Points: []pages.Point{{1, 1}}}, {Points: []pages.Point{{0, 1}, {1, 1}}}} {
		if got := none.Plot(); got != "" {
			t.Errorf("%v is drawn as %s", none, got)
		}
	}
}
