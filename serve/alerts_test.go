package serve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service/alerttest"
	"github.com/discreet-rl/discreet/serve"
)

const alertRules = "../examples/serve/alerts.yaml"

// monitored is a house that has all that rules are about, which is not open.
func monitored(t *testing.T) (*house, *hook) {
	t.Helper()
	w := hooked(t)
	h := furnish(t, "witness: heads.ndjson\n    approval: above 0.9").notifies(fmt.Sprintf("webhook: {url: %q}", w.URL))
	if err := os.Mkdir(filepath.Join(h.dir, "backups"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write("serve.yaml", h.read("serve.yaml")+"backup: {path: backups, every: 2s, keep: 2}\n")
	h.prepare = func(s *serve.Service) {
		s.Hurry()
		s.Panicking()
	}
	return h, w
}

// Each name of a metric, and each value of a label, in the rules of the example is told by a service.
func TestAlertsAreOnMetricsThatThereAre(t *testing.T) {
	h, _ := monitored(t)
	ca := h.secure(100 * 24 * time.Hour)
	h.open()
	h.url = strings.Replace(h.url, "http:", "https:", 1)
	h.operator = h.shows(ca, "operator", "prometheus")
	if n := len(alerttest.Names(t, alertRules, strings.Join(h.scraped(), "\n"), "discreet_curator")); n < 12 {
		t.Errorf("%d rules", n)
	}
}
