//go:build slow

package report_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/chromium"
)

// Pages of survival are looked at in a real browser, in a wide and a narrow window, in light and
// in dark: nothing sticks out, the console says nothing, and axe-core finds nothing serious.
func TestSurvivalInChromium(t *testing.T) {
	b, err := chromium.Start(t.Context())
	if errors.Is(err, chromium.ErrUnavailable) && !chromium.Required() {
		t.Skipf("NOT TESTED IN A BROWSER: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop()
	dir := t.TempDir()
	for name, r := range survivals() {
		name = strings.ReplaceAll(name, ", ", "-")
		// axe-core is run in the page, which a page that runs nothing would not let it.
		page := strings.Replace(render(t, r), "default-src 'none'; ", "", 1)
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".html")
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		faults, err := b.LookEverywhere(name, "file://"+path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults {
			t.Error(f)
		}
	}
}
