package alerttest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// Names fails unless each rule of a file has a name, a summary and a runbook, and each name of a
// metric with the prefix, and each value of a label, is in the scrape. It returns the names of the
// rules.
func Names(t testing.TB, file, scrape, prefix string) (alerts []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	told := "\n" + scrape
	name := regexp.MustCompile(prefix + `_[a-z_]+`)
	label := regexp.MustCompile(`(` + prefix + `_[a-z_]+)\{([a-z]+)=~?"([a-z|]+)"\}`)
	for _, g := range rules.Groups {
		for _, rule := range g.Rules {
			alerts = append(alerts, rule.Alert)
			if rule.Alert == "" || rule.Annotations["summary"] == "" || rule.Annotations["runbook"] == "" {
				t.Errorf("%+v: want a name, a summary and a runbook", rule)
			}
			for _, n := range append(name.FindAllString(rule.Expr, -1), name.FindAllString(rule.Annotations["runbook"], -1)...) {
				if !regexp.MustCompile(`\n` + n + `(_bucket)?(\{[^}]*\})? `).MatchString(told) {
					t.Errorf("%s: no server tells %s", rule.Alert, n)
				}
			}
			for _, m := range label.FindAllStringSubmatch(rule.Expr, -1) {
				for value := range strings.SplitSeq(m[3], "|") {
					if !regexp.MustCompile(`\n` + m[1] + `\{([^}]*,)?` + m[2] + `="` + value + `"[,}]`).MatchString(told) {
						t.Errorf("%s: %s has no %s %q", rule.Alert, m[1], m[2], value)
					}
				}
			}
		}
	}
	return alerts
}
