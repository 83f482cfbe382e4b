package cli

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/discreet-rl/discreet/internal/service"
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
	told := "\n" + string(text)

	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For string
				Annotations      map[string]string
			}
		}
	}
	rules, err := os.ReadFile("../../examples/fleet-network/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(rules, &file); err != nil {
		t.Fatal(err)
	}
	name, label := regexp.MustCompile(`fleet_[a-z_]+`), regexp.MustCompile(`(fleet_[a-z_]+)\{([a-z]+)=~?"([a-z|]+)"\}`)
	seen := 0
	for _, g := range file.Groups {
		for _, rule := range g.Rules {
			if rule.Alert == "" || rule.Annotations["summary"] == "" || rule.Annotations["runbook"] == "" {
				t.Errorf("%+v: want a name, a summary and a runbook", rule)
			}
			for _, n := range append(name.FindAllString(rule.Expr, -1), name.FindAllString(rule.Annotations["runbook"], -1)...) {
				seen++
				if !regexp.MustCompile(`\n` + n + `(_bucket)?(\{[^}]*\})? `).MatchString(told) {
					t.Errorf("%s: no server tells %s", rule.Alert, n)
				}
			}
			for _, m := range label.FindAllStringSubmatch(rule.Expr, -1) {
				for _, value := range strings.Split(m[3], "|") {
					if !strings.Contains(told, "\n"+m[1]+"{"+m[2]+`="`+value+`"} `) {
						t.Errorf("%s: %s has no %s %q", rule.Alert, m[1], m[2], value)
					}
				}
			}
		}
	}
	if seen < 12 {
		t.Errorf("%d names of metrics were found in the rules", seen)
	}
	m := regexp.MustCompile(`\nfleet_certificate_remaining_seconds (\S+)`).FindStringSubmatch(told)
	if m == nil || !strings.HasPrefix(m[1], "6.3") || !strings.HasSuffix(m[1], "e+07") { // two years
		t.Errorf("the certificate is good for %v s", m)
	}
}
