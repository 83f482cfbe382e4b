//go:build slow

package serve_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/discreet-rl/discreet/internal/chromium"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// A person signs in, plans, asks, and reads, in a real browser; every page is looked at in
// a wide and a narrow window, in light and in dark: nothing sticks out, the console says
// nothing, and axe-core finds nothing serious.
func TestPagesInChromium(t *testing.T) {
	b, err := chromium.Start(t.Context())
	if errors.Is(err, chromium.ErrUnavailable) && !chromium.Required() {
		t.Skipf("NOT TESTED IN A BROWSER: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop()
	h := opened(t, "approval: above 0.5")
	look := func(name, path string) {
		t.Helper()
		faults, err := b.LookEverywhere(name, h.url+path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults {
			t.Error(f)
		}
	}
	signIn := func(person string) {
		t.Helper()
		if err := b.Run(chromedp.Navigate(h.url+"/"), chromedp.SendKeys("#token", h.tokens[person]), chromedp.Submit("#token"), chromedp.WaitVisible("article")); err != nil {
			t.Fatal(err)
		}
	}
	signIn("ann")
	look("datasets", "/")
	look("dataset", "/datasets/pbc")
	var plan string
	err = b.Run(chromedp.Navigate(h.url+"/datasets/pbc"), chromedp.SetValue("#question", wish(0.5)), chromedp.SetValue("#purpose", "a look <b>at it</b>"),
		chromedp.Click(`button[formaction]`), chromedp.WaitVisible(".plot"), chromedp.Text("main", &plan))
	if err != nil || !strings.Contains(plan, "It fits what is left") {
		t.Fatalf("the plan: %v %s", err, plan)
	}
	var address string
	if err := b.Run(chromedp.Click(`.strong`), chromedp.WaitVisible("code"), chromedp.Location(&address)); err != nil {
		t.Fatal(err)
	}
	ask := strings.TrimPrefix(address, h.url)
	if a := h.end("ann", strings.TrimPrefix(ask, "/asks/")); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Fatalf("ended as %v", a)
	}
	look("ask", ask)
	waiting := h.ask("ann", oneKey, wish(1))
	if err := b.Run(chromedp.Navigate(h.url+"/"), chromedp.Submit("nav form"), chromedp.WaitVisible("#token")); err != nil {
		t.Fatal(err)
	}
	signIn("stella")
	look("decide", "/asks/"+waiting)
	look("notices", "/datasets/pbc/notices")
	look("audit", "/datasets/pbc/audit")
	look("steward", "/datasets/pbc")
	if err := b.Run(chromedp.Navigate(h.url+"/asks/"+waiting), chromedp.Click(`button[value="approve"]`), chromedp.WaitNotPresent(`button[value="approve"]`)); err != nil {
		t.Fatal(err)
	}
	if a := h.end("ann", waiting); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Errorf("approved: %v", a)
	}
}
