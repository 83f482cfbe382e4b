package service_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
)

func TestWithoutTLSItListensOnLoopbackAlone(t *testing.T) {
	for listen, ok := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:0": true, "127.9.9.9:1": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "192.0.2.1:80": false, "localhost:80": false, "example.org:80": false,
		"127.0.0.1": false, "127.0.0.1:http": false, "127.0.0.1:65536": false,
	} {
		c := service.Config{Listen: listen, Metrics: service.NewMetrics("test"), Log: slog.New(slog.DiscardHandler)}
		err := c.Validate()
		if ok != (err == nil) || err != nil && !errors.Is(err, service.ErrConfig) {
			t.Errorf("%s: %v", listen, err)
		}
		if c.TLS = (&service.TLS{}); strings.HasSuffix(listen, ":80") && c.Validate() != nil {
			t.Errorf("%s with TLS: %v", listen, c.Validate())
		}
	}
}

// TestWhoMayUseARoute: every kind of client on every kind of route.
func TestWhoMayUseARoute(t *testing.T) {
	p, foreign := newParty(t), newParty(t)
	cfg := p.config(io.Discard)
	var list []service.Serial
	revoked := &service.Revocations{Load: func(context.Context) ([]service.Serial, error) { return list, nil }, Oldest: time.Hour}
	cfg.Admit = revoked.Check
	s, err := service.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, ok := service.IdentityOf(r.Context())
		fmt.Fprintf(w, "%v %s", ok, id.Name)
	})
	s.Handle("GET /open", service.Access{Anonymous: true}, hello)
	s.Handle("GET /device", service.Access{Roles: []string{"device"}}, hello)
	url, _ := run(t, s)

	hour := func(role string, by *party) *http.Client {
		c, _ := by.client(t, role, time.Now(), time.Hour)
		c.Transport.(*http.Transport).TLSClientConfig.RootCAs.AddCert(p.ca.Certificate())
		return c
	}
	taken, serial := p.client(t, "device", time.Now(), time.Hour)
	list = append(list, serial)
	if err := revoked.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	expired, _ := p.client(t, "device", time.Now().Add(-2*time.Hour), time.Hour)
	early, _ := p.client(t, "device", time.Now().Add(2*time.Hour), time.Hour)
	old := hour("device", p)
	old.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS12
	server := hour("", p)
	key, cert := p.issue(t, authority.Subject{Role: "device", Name: "x", Hosts: []string{"127.0.0.1"}}, time.Now(), time.Hour)
	server.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}
	const handshake = 0
	for _, c := range []struct {
		who                           string
		client                        *http.Client
		open, device, metrics, health int
	}{
		{"nobody", hour("", p), 200, 401, 401, 200},
		{"device", hour("device", p), 200, 200, 403, 200},
		{"operator", hour("operator", p), 200, 403, 200, 200},
		{"revoked device", taken, 200, 403, 403, 200},
		{"device of a foreign authority", hour("device", foreign), handshake, handshake, handshake, handshake},
		{"expired device", expired, handshake, handshake, handshake, handshake},
		{"device that begins later", early, handshake, handshake, handshake, handshake},
		{"a server's certificate as a client's", server, handshake, handshake, handshake, handshake},
		{"TLS 1.2", old, handshake, handshake, handshake, handshake},
	} {
		for path, want := range map[string]int{"/open": c.open, "/device": c.device, "/metrics": c.metrics, "/healthz": c.health, "/readyz": c.health, "/other": map[bool]int{true: 0, false: 404}[c.open == 0]} {
			if code, text := get(c.client, url+path); code != want {
				t.Errorf("%s, %s: %d %s; want %d", c.who, path, code, text, want)
			}
		}
	}
	if code, text := get(hour("device", p), url+"/device"); text != "true a device" {
		t.Errorf("the handler was told %d %q", code, text)
	}
	for pattern, a := range s.Routes() {
		if !a.Anonymous && len(a.Roles) == 0 {
			t.Errorf("%s is for nobody", pattern)
		}
	}
}

func TestNobodyIsAdmittedOnAnOldListOfRevocations(t *testing.T) {
	now, fail := time.Unix(1e9, 0), false
	r := &service.Revocations{Oldest: 30 * time.Second, Now: func() time.Time { return now },
		Load: func(context.Context) ([]service.Serial, error) {
			if fail {
				return nil, errors.New("no database")
			}
			return []service.Serial{{1}}, nil
		}}
	good, bad := service.Identity{Serial: service.Serial{2}}, service.Identity{Serial: service.Serial{1}}
	if r.Check(good) == nil {
		t.Error("admitted before there was a list")
	}
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	now = now.Add(30 * time.Second)
	if err := r.Check(good); err != nil {
		t.Error(err)
	}
	if !errors.Is(r.Check(bad), service.ErrRevoked) {
		t.Error("revoked and admitted")
	}
	fail = true
	now = now.Add(time.Second)
	if r.Refresh(t.Context()) == nil || r.Check(good) == nil {
		t.Error("admitted on a list that is 31 s old")
	}
}

func TestACertificateIsExchangedWhileTheServiceRuns(t *testing.T) {
	p := newParty(t)
	var told servicetest.Log
	s, err := service.New(p.config(&told))
	if err != nil {
		t.Fatal(err)
	}
	s.LookAtOnce()
	url, _ := run(t, s)
	serves := func() service.Serial {
		c, _ := p.client(t, "", time.Now(), 0)
		r, err := c.Get(url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		return service.SerialOf(r.TLS.PeerCertificates[0])
	}
	first := serves()
	want := p.server(t)
	// A file that was written in the same moment and has the same size looks the same.
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(filepath.Join(p.dir, "server.pem"), later, later); err != nil {
		t.Fatal(err)
	}
	if got := serves(); got != want || got == first {
		t.Error("the old certificate is served")
	}
	if err := os.WriteFile(filepath.Join(p.dir, "server.pem"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serves(); got != want {
		t.Error("a broken file displaced the certificate")
	}
	if !strings.Contains(told.String(), "stays in force") {
		t.Errorf("the broken file was not told of: %s", told.String())
	}
}

// TestProtocols: HTTP/2 where clients ask often, and not where they ask once.
func TestProtocols(t *testing.T) {
	p := newParty(t)
	for once, want := range map[bool]string{false: "HTTP/2.0", true: "HTTP/1.1"} {
		cfg := p.config(io.Discard)
		cfg.OneRequest = once
		s, err := service.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		url, _ := run(t, s)
		c, _ := p.client(t, "", time.Now(), 0)
		c.Transport.(*http.Transport).ForceAttemptHTTP2 = true
		r, err := c.Get(url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.Proto != want {
			t.Errorf("once %v: %s; want %s", once, r.Proto, want)
		}
	}
}
