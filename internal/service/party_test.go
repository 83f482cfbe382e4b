// An authority, a server of its own and clients, which the tests of this package share.

package service_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
)

// party is an authority with the files of a server.
type party struct {
	dir string
	ca  *authority.Authority
}

func newParty(t *testing.T) *party {
	t.Helper()
	dir := t.TempDir()
	ca, err := authority.Create(filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key"), "test", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	p := &party{dir, ca}
	p.server(t)
	return p
}

// server writes a fresh certificate for the server and returns its serial.
func (p *party) server(t *testing.T) service.Serial {
	t.Helper()
	key, c := p.issue(t, authority.Subject{Role: "server", Name: "server", Hosts: []string{"127.0.0.1"}}, time.Now(), time.Hour)
	for _, name := range []string{"server.pem", "server.key"} {
		if err := os.Remove(filepath.Join(p.dir, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := errors.Join(authority.WriteKey(filepath.Join(p.dir, "server.key"), key), authority.WriteCertificates(filepath.Join(p.dir, "server.pem"), c.Raw)); err != nil {
		t.Fatal(err)
	}
	return service.SerialOf(c)
}

func (p *party) issue(t *testing.T, s authority.Subject, from time.Time, valid time.Duration) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := authority.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	request, err := authority.Request(key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.ca.Issue(request, s, from, valid)
	if err != nil {
		t.Fatal(err)
	}
	return key, c
}

// client speaks as the role, or as nobody if that is empty.
func (p *party) client(t *testing.T, role string, from time.Time, valid time.Duration) (*http.Client, service.Serial) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(p.ca.Certificate())
	c := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	var serial service.Serial
	if role != "" {
		key, cert := p.issue(t, authority.Subject{Role: role, Name: "a " + role}, from, valid)
		c.Certificates = []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}
		serial = service.SerialOf(cert)
	}
	tr := &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}, serial
}

func (p *party) config(w io.Writer) service.Config {
	return service.Config{
		Listen: "127.0.0.1:0", Operators: "operator", Metrics: service.NewMetrics("test"),
		TLS: &service.TLS{Certificate: filepath.Join(p.dir, "server.pem"), Key: filepath.Join(p.dir, "server.key"), ClientRoots: filepath.Join(p.dir, "ca.pem")},
		Log: service.NewLog(w, slog.LevelInfo, map[string]service.Kind{"error": service.Text}),
	}
}

// run serves until the test ends, or stop is called.
func run(t *testing.T, s *service.Server) (url string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	addr, err := s.Listen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = stop() })
	return "https://" + addr.String(), stop
}

func get(c *http.Client, url string) (int, string) {
	r, err := c.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(text)
}
