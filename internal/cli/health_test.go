package cli

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// health tells by its exit code whether a service can serve, and asks none but the one whose
// certificate is named.
func TestHealth(t *testing.T) {
	status := http.StatusOK
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(status)
		} else {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	open, closed := httptest.NewServer(h), httptest.NewTLSServer(h)
	t.Cleanup(open.Close)
	t.Cleanup(closed.Close)
	dir := t.TempDir()
	file := func(name string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mine := file("mine.pem", closed.Certificate().Raw)
	other := file("other.pem", []byte("another"))

	fleetRuns(t, 0, "health", open.URL)
	fleetRuns(t, 0, "health", open.URL+"/")
	fleetRuns(t, 0, "health", closed.URL, "--certificate", mine)
	for want, args := range map[string][]string{
		"shows another certificate": {closed.URL, "--certificate", other},
		"x509":                      {closed.URL},
		"refused":                   {"http://127.0.0.1:1"},
	} {
		if got := fleetRuns(t, 1, append([]string{"health"}, args...)...); !strings.Contains(got, want) {
			t.Errorf("%v: %s; want %q", args, got, want)
		}
	}
	for _, args := range [][]string{{"127.0.0.1:8420"}, {open.URL, "--certificate", mine}, {closed.URL, "--certificate", filepath.Join(dir, "none")}, {}} {
		fleetRuns(t, 2, append([]string{"health"}, args...)...)
	}
	for _, status = range []int{http.StatusServiceUnavailable, http.StatusFound, http.StatusNoContent} {
		if got := fleetRuns(t, 1, "health", open.URL); !strings.Contains(got, http.StatusText(status)) {
			t.Errorf("%d: %s", status, got)
		}
	}
}
