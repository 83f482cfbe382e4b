//go:build slow

package aggregator_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/discreet-rl/discreet/internal/chromium"
)

// TestThePageInChromium, in a wide and a narrow window, in light and in dark: nothing sticks
// out, the console says nothing, and axe-core finds nothing serious.
func TestThePageInChromium(t *testing.T) {
	b, err := chromium.Start(t.Context())
	if errors.Is(err, chromium.ErrUnavailable) && !chromium.Required() {
		t.Skipf("NOT TESTED IN A BROWSER: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop()
	w, _, _ := watched(t)
	faults, err := b.LookEverywhere("fleet", w.page+"/")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
	var run string
	if err := b.Run(chromedp.Click("td a"), chromedp.Location(&run)); err != nil || run != fmt.Sprintf("%s/?run=%x", w.page, runID) {
		t.Errorf("the run's link leads to %s, %v", run, err)
	}
}
