package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/chart"
	"github.com/discreet-rl/discreet/internal/fleet/pages"
	"github.com/discreet-rl/discreet/internal/webpage"
	"github.com/discreet-rl/discreet/internal/webpage/pagetest"
)

func Example() {
	var page strings.Builder
	if err := pages.Write(&page, pages.Fleet{Frame: webpage.Frame{Title: "Fleet"}, Health: pages.Health{Ready: true}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(page.String(), "None yet: <code>discreet fleet create</code> makes one."))
	// Output: true
}

// What an operator wrote stays text, and a page asks no other host for anything and runs nothing.
func TestHostileTextStaysText(t *testing.T) {
	const h = pagetest.Hostile
	frame := webpage.Frame{Title: h, Problem: h}
	health := pages.Health{Ready: true, Version: h, Since: h, Store: h, Clock: h}
	plot := chart.New(h, chart.Axis{Name: h, High: 1}, chart.Axis{High: 1}).SVG(h)
	for _, v := range []pages.View{
		pages.Sorry{Frame: frame}, pages.Fleet{Frame: frame},
		pages.Fleet{Frame: frame, Health: health, Verdicts: []pages.Verdict{{Name: h, Means: h}}, Runs: []pages.Run{{ID: h, Purpose: h, State: h, Shown: true}}, Older: 1, Run: &pages.Details{
			ID: h, Purpose: h, State: h, Reports: h, Opened: h, Confidence: h, Plot: plot, Successes: []pages.Success{{Share: h, Error: h, Low: h, High: h}},
			Cohorts: []pages.Cohort{{Kind: h, Each: h}}, Spent: webpage.Bar{Words: h}, Rounds: []pages.Round{{Kind: h, State: h, Until: h, Reports: h, Epsilon: h}}, Of: h,
		}},
	} {
		var b strings.Builder
		if err := pages.Write(&b, v); err != nil {
			t.Fatal(err)
		}
		for _, fault := range pagetest.Faults(b.String()) {
			t.Errorf("%T: %s", v, fault)
		}
	}
}

// A server whose store does not answer says so, and not that there are no runs.
func TestAServerThatIsNotReady(t *testing.T) {
	var b strings.Builder
	if err := pages.Write(&b, pages.Fleet{}); err != nil {
		t.Fatal(err)
	}
	if page := b.String(); !strings.Contains(page, "not ready") || strings.Contains(page, "None yet") {
		t.Error(page)
	}
}
