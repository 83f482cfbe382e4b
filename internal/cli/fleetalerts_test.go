package cli

import (
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/alerttest"
)

// TestAlertsAreOnMetricsThatThereAre: every name and every value of a label in the example's rules is one that a server tells.
func TestAlertsAreOnMetricsThatThereAre(t *testing.T) {
	path := startFleet(t, false)
	keys := filepath.Join(filepath.Dir(path), "keys")
	tls, err := service.ClientTLS(filepath.Join(keys, "ca.pem"), filepath.Join(keys, "operator.pem"), filepath.Join(keys, "operator.key"))
	if err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`server: (\S+)`).FindStringSubmatch(textOf(t, path))[1]
	r, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: tls}}).Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(alerttest.Names(t, "../../examples/fleet-network/alerts.yaml", string(text), "fleet")); n < 10 {
		t.Errorf("%d rules", n)
	}
	m := regexp.MustCompile(`\nfleet_certificate_remaining_seconds (\S+)`).FindStringSubmatch(string(text))
	if m == nil || !strings.HasPrefix(m[1], "6.3") || !strings.HasSuffix(m[1], "e+07") { // two years
		t.Errorf("the certificate is good for %v s", m)
	}
}
