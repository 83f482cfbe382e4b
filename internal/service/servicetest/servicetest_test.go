package servicetest_test

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
)

func Example() {
	var log servicetest.Log
	fmt.Fprint(&log, "a line")
	fmt.Println(log.String())
	// Output: a line
}

// TestClient: it knows a server by the roots alone, and shows the certificate that it was given.
func TestClient(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, len(r.TLS.PeerCertificates))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	defer s.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	ca, err := authority.Create(filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "ca.key"), "test", time.Now(), 2*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	key, csr := servicetest.Request(t)
	c, err := ca.Issue(csr, authority.Subject{Role: "device", Name: "one"}, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	pool := servicetest.Roots(t, roots)
	for want, pair := range map[string]*tls.Certificate{"0": nil, "1": {Certificate: [][]byte{c.Raw}, PrivateKey: key}} {
		answer, err := servicetest.Client(t, pool, pair).Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || string(got) != want {
			t.Errorf("%q certificates, %v; want %s", got, err, want)
		}
	}
	if answer, err := servicetest.Client(t, nil, nil).Get(s.URL); err == nil {
		answer.Body.Close()
		t.Error("a server that nobody vouches for is taken")
	}
}
