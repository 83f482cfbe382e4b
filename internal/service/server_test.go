package service_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
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

// TestStopLetsRequestsEnd: one that is under way is answered, and no new one is
// begun.
func TestStopLetsRequestsEnd(t *testing.T) {
	p := newParty(t)
	s, err := service.New(p.config(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	entered, leave := make(chan bool), make(chan bool)
	s.Handle("GET /slow", service.Access{Anonymous: true}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- true
		<-leave
		_, _ = io.WriteString(w, "done")
	}))
	url, stop := run(t, s)
	answer := make(chan string)
	c, _ := p.client(t, "", time.Now(), 0)
	go func() {
		_, text := get(c, url+"/slow")
		answer <- text
	}()
	<-entered
	stopped := make(chan error)
	go func() { stopped <- stop() }()
	for code := 200; code != 0; { // until the port is closed
		code, _ = get(c, url+"/healthz")
	}
	select {
	case err := <-stopped:
		t.Fatalf("stopped with a request under way: %v", err)
	default:
	}
	leave <- true
	if text := <-answer; text != "done" {
		t.Errorf("the request under way got %q", text)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestStopCutsOffWhatDoesNotEnd(t *testing.T) {
	p := newParty(t)
	cfg := p.config(io.Discard)
	cfg.Drain = time.Millisecond
	s, err := service.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	entered := make(chan bool)
	s.Handle("GET /stuck", service.Access{Anonymous: true}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	}))
	url, stop := run(t, s)
	c, _ := p.client(t, "", time.Now(), 0)
	go get(c, url+"/stuck")
	<-entered
	if err := stop(); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("a stop that cut off a request said %v", err)
	}
}

// TestALineAtATimeIsNoRequest: a header that does not come to its end in time, or is too
// long, ends the connection; a body that is too long ends the reading.
func TestALineAtATimeIsNoRequest(t *testing.T) {
	cfg := service.Config{Listen: "127.0.0.1:0", Metrics: service.NewMetrics("test"), Log: slog.New(slog.DiscardHandler),
		Limits: service.Limits{HeaderTime: 50 * time.Millisecond, Header: 1 << 10}}
	s, err := service.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var read int64
	s.Handle("POST /body", service.Access{Anonymous: true, Body: 100}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if read, err = io.Copy(io.Discard, r.Body); err == nil {
			t.Error("the whole body was read")
		}
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	url, _ := run(t, s)
	ask := func(text string) string {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, text)
		line, _ := bufio.NewReader(c).ReadString('\n')
		return line
	}
	if line := ask("GET /healthz HTTP/1.1\r\nHost: x\r\nX: "); line != "" && !strings.Contains(line, "408") {
		t.Errorf("half a header was answered by %q", line)
	}
	if line := ask("GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 1<<14) + "\r\n\r\n"); !strings.Contains(line, "431") {
		t.Errorf("16 KiB of header: %q", line)
	}
	if line := ask("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n" + strings.Repeat("y", 101)); !strings.Contains(line, "413") || read != 100 {
		t.Errorf("101 bytes where 100 are allowed: %q, %d read", line, read)
	}
}

func TestMoreConnectionsWait(t *testing.T) {
	cfg := service.Config{Listen: "127.0.0.1:0", Metrics: service.NewMetrics("test"), Log: slog.New(slog.DiscardHandler), Limits: service.Limits{Connections: 2}}
	s, err := service.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	url, _ := run(t, s)
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		return c
	}
	answered := func(c net.Conn, within time.Duration) bool {
		_ = c.SetReadDeadline(time.Now().Add(within))
		line, _ := bufio.NewReader(c).ReadString('\n')
		return strings.Contains(line, "200")
	}
	first, second := dial(), dial()
	if !answered(first, time.Minute) || !answered(second, time.Minute) {
		t.Fatal("two connections are not served")
	}
	third := dial()
	if answered(third, 50*time.Millisecond) {
		t.Error("a third connection is served")
	}
	first.Close()
	if !answered(third, time.Minute) {
		t.Error("the third connection is not served when the first is gone")
	}
}
