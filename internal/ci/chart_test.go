package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// a manifest of two objects, and what a chart may make of it: in another order and
// layout, with labels of its own.
const (
	manifestText = `
kind: Service
metadata: {name: s, labels: {app.kubernetes.io/name: discreet}}
spec: {ports: [{port: 443}]}
---
kind: Deployment
metadata: {name: d}
spec: {replicas: 2}
`
	renderedText = `
# Source: a template that rendered nothing
---
kind: Deployment
metadata:
  name: d
spec:
  replicas: 2 # of two
---
kind: Service
metadata:
  labels:
    app.kubernetes.io/name: discreet
    app.kubernetes.io/instance: s
    helm.sh/chart: discreet-0.1.0
  name: s
spec:
  ports:
    - port: 443
`
)

func TestAChartThatDriftsFromItsManifestFails(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	manifest := write("manifest.yaml", manifestText)
	for what, c := range map[string]struct{ old, new, says string }{
		"as it is":           {"", "", ""},
		"another number":     {"replicas: 2", "replicas: 3", ".Deployment/d.spec.replicas is 3 in the chart; want 2"},
		"another port":       {"port: 443", "port: 444", ".Service/s.spec.ports[0].port is 444"},
		"a key more":         {"port: 443", "port: 443\n  type: NodePort", ".Service/s.spec.type is in the chart alone"},
		"a key less":         {"  replicas: 2 # of two", "  {}", ".Deployment/d.spec.replicas is missing"},
		"another name":       {"  name: d", "  name: e", ".Deployment/d is missing"},
		"a text, no number":  {"replicas: 2", `replicas: "2"`, ".Deployment/d.spec.replicas is 2"},
		"an element more":    {"- port: 443", "- port: 443\n    - port: 80", ".Service/s.spec.ports is"},
		"an object repeated": {"kind: Service", "kind: Deployment\nmetadata: {name: d}\n---\nkind: Service", "twice"},
	} {
		err := chart(write("rendered.yaml", strings.Replace(renderedText, c.old, c.new, 1)), manifest)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || what != "an object repeated" && !errors.Is(err, errDrift) {
			t.Errorf("%s: %v; want %q", what, err, c.says)
		}
	}
}
