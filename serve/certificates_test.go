package serve_test

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	certificates "github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// secured is a house with TLS, which knows people by certificates of its authority too.
func secured(t *testing.T) (*house, *certificates.Authority) {
	t.Helper()
	h := furnish(t, "")
	ca := h.secure(time.Hour)
	h.open()
	h.url = strings.Replace(h.url, "http:", "https:", 1)
	return h, ca
}

// secure has a house that is not open use TLS, with a certificate that is good for so long.
func (h *house) secure(lifetime time.Duration) *certificates.Authority {
	h.t.Helper()
	t := h.t.(*testing.T)
	at := func(name string) string { return filepath.Join(h.dir, name) }
	ca, err := certificates.Create(at("ca.pem"), at("ca.key"), "test", time.Now(), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	key, csr := servicetest.Request(t)
	c, err := ca.Issue(csr, certificates.Subject{Role: "server", Name: "server", Hosts: []string{"127.0.0.1", "localhost"}}, time.Now(), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(certificates.WriteKey(at("tls.key"), key), certificates.WriteCertificates(at("tls.pem"), c.Raw)); err != nil {
		t.Fatal(err)
	}
	h.write("serve.yaml", h.read("serve.yaml")+"tls: {certificate: tls.pem, key: tls.key, client_roots: ca.pem}\n")
	return ca
}

// shows is a client with a certificate, or with none.
func (h *house) shows(ca *certificates.Authority, role, name string) *http.Client {
	h.t.Helper()
	roots := servicetest.Roots(h.t, filepath.Join(h.dir, "ca.pem"))
	if role == "" {
		return servicetest.Client(h.t, roots, nil)
	}
	key, csr := servicetest.Request(h.t)
	c, err := ca.Issue(csr, certificates.Subject{Role: role, Name: name}, time.Now(), time.Hour)
	if err != nil {
		h.t.Fatal(err)
	}
	return servicetest.Client(h.t, roots, &tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key})
}

// A certificate is worth what people and its role say: of nobody's nothing, and an operator's the
// metrics alone, under whatever name.
func TestCertificatesOfNobodySeeNothing(t *testing.T) {
	h, ca := secured(t)
	for _, c := range []struct {
		role, name           string
		page, metrics, calls int
	}{
		{"person", "ann", http.StatusOK, http.StatusForbidden, 1},
		{"person", "nobody", http.StatusUnauthorized, http.StatusUnauthorized, http.StatusUnauthorized},
		{"operator", "ann", http.StatusUnauthorized, http.StatusOK, http.StatusForbidden},
		{"server", "ann", http.StatusUnauthorized, http.StatusUnauthorized, http.StatusUnauthorized},
		{"", "", http.StatusUnauthorized, http.StatusUnauthorized, http.StatusUnauthorized},
	} {
		client := h.shows(ca, c.role, c.name)
		for path, want := range map[string]int{"/": c.page, "/datasets/pbc": c.page, "/metrics": c.metrics, "/healthz": http.StatusOK} {
			answer, err := client.Get(h.url + path)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s %q at %s: %d; want %d", c.role, c.name, path, answer.StatusCode, want)
			}
			if got := answer.Header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
				t.Errorf("%s: Strict-Transport-Security is %q", path, got)
			}
		}
		list, err := curatorv1.NewCuratorServiceClient(client, h.url).ListDatasets(t.Context(), &curatorv1.ListDatasetsRequest{})
		if c.calls == 1 && (err != nil || len(list.GetDatasets()) != 1) || c.calls != 1 && (err == nil || !strings.Contains(err.Error(), http.StatusText(c.calls))) {
			t.Errorf("%s %q lists %v, %v; want %d", c.role, c.name, list, err, c.calls)
		}
	}
}

// The form of a page that came by http is refused where browsers come by https: whoever is on the
// way may have written it.
func TestAFormOverHTTPIsRefused(t *testing.T) {
	h, ca := secured(t)
	b := &browser{t, h, h.shows(ca, "person", "ann")}
	host := strings.TrimPrefix(h.url, "https://")
	for origin, want := range map[string]int{"https://" + host: http.StatusOK, "": http.StatusOK, "http://" + host: http.StatusForbidden, "null": http.StatusForbidden, "https://evil.example": http.StatusForbidden} {
		status, text := b.post("/datasets/pbc/plan", url.Values{"key": {oneKey}, "question": {wish(.1)}}, func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			if origin != "" {
				r.Header.Set("Origin", origin)
			}
		})
		if status != want {
			t.Errorf("a form of %q: %d %s; want %d", origin, status, text, want)
		}
	}
}

// A person who was taken out of people keeps a token that is good for nothing.
func TestATokenOfNobodySeesNothing(t *testing.T) {
	h := opened(t, "")
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "amy: analyst", "eve: analyst", 1))
	h.tokens["eve"] = "none"
	h.open()
	if status, text := h.post(h.tokens["amy"], "/discreet.curator.v1.CuratorService/ListDatasets", "{}"); status != http.StatusUnauthorized {
		t.Errorf("a call: %d %s; want 401", status, text)
	}
	if status, _ := h.browser().post("/signin", url.Values{"token": {h.tokens["amy"]}}, nil); status != http.StatusUnauthorized {
		t.Errorf("signing in: %d; want 401", status)
	}
}
