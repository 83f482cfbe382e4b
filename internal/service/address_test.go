package service_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
)

// from is a connection of its own from an address of this machine.
func from(t *testing.T, address, url string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c, err := d.Dial("tcp", strings.TrimPrefix(url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// answer is the first line of what /healthz answers, with its header; "closed" where the connection is.
func answer(c net.Conn, path string) (line string, header http.Header) {
	_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "nothing", nil
	} else if err != nil {
		return "closed", nil
	}
	_, _ = io.Copy(io.Discard, r.Body)
	return r.Status[:3], r.Header
}

func metrics(t *testing.T, c net.Conn) string {
	t.Helper()
	_, _ = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAnAddressHasItsShareOfConnections, and what it is refused is counted without it.
func TestAnAddressHasItsShareOfConnections(t *testing.T) {
	s, err := service.New(service.Config{Listen: "127.0.0.1:0", Metrics: service.NewMetrics("test"), Log: slog.New(slog.DiscardHandler), Limits: service.Limits{Connections: 50, AddressConnections: 2}})
	if err != nil {
		t.Fatal(err)
	}
	url, _ := run(t, s)
	first, second := from(t, "127.0.0.1", url), from(t, "127.0.0.1", url)
	for _, c := range []net.Conn{first, second} {
		if got, _ := answer(c, "/healthz"); got != "200" {
			t.Fatalf("within its share: %s", got)
		}
	}
	for range 3 {
		if got, _ := answer(from(t, "127.0.0.1", url), "/healthz"); got != "closed" {
			t.Errorf("beyond its share: %s", got)
		}
	}
	other := from(t, "127.0.0.2", url)
	if got, _ := answer(other, "/healthz"); got != "200" {
		t.Errorf("another address pays for it: %s", got)
	}
	text := metrics(t, other)
	if !strings.Contains(text, "test_connections_refused_total 3\n") || strings.Contains(text, "127.0") {
		t.Errorf("the metrics are\n%s", text)
	}
	first.Close()
	for end := time.Now().Add(time.Minute); ; { // until the server has seen it close
		got, _ := answer(from(t, "127.0.0.1", url), "/healthz")
		if got == "200" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a place that is free again: %s", got)
		}
	}
}

// TestAnAddressAsksSoOften, whoever it is and whatever it asks for.
func TestAnAddressAsksSoOften(t *testing.T) {
	s, err := service.New(service.Config{Listen: "127.0.0.1:0", Metrics: service.NewMetrics("test"), Log: slog.New(slog.DiscardHandler), Limits: service.Limits{AddressRate: service.Rate{Every: time.Hour, Burst: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	url, _ := run(t, s)
	for i, want := range []string{"200", "200", "200", "429", "429"} {
		got, h := answer(from(t, "127.0.0.1", url), []string{"/healthz", "/readyz", "/metrics"}[i%3])
		if got != want || want == "429" && h.Get("Retry-After") == "" {
			t.Errorf("request %d: %s, %v; want %s", i, got, h, want)
		}
	}
	if text := metrics(t, from(t, "127.0.0.2", url)); !strings.Contains(text, `test_refused_total{reason="address"} 2`) {
		t.Errorf("the metrics are\n%s", text)
	}
	for name, l := range map[string]service.Limits{
		"connections": {AddressConnections: -1}, "no time": {AddressRate: service.Rate{Burst: 1}}, "no burst": {AddressRate: service.Rate{Every: time.Second}},
	} {
		c := service.Config{Listen: "127.0.0.1:0", Metrics: service.NewMetrics("test"), Log: slog.New(slog.DiscardHandler), Limits: l}
		if err := c.Validate(); !errors.Is(err, service.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAPanicIsLoggedWithoutWhatItSaid, by the functions that it was in, and the service goes on.
func TestAPanicIsLoggedWithoutWhatItSaid(t *testing.T) {
	var log bytes.Buffer
	s, err := service.New(service.Config{Listen: "127.0.0.1:0", Metrics: service.NewMetrics("test"),
		Log: service.NewLog(&log, slog.LevelInfo, map[string]service.Kind{service.StackKey: service.Text})})
	if err != nil {
		t.Fatal(err)
	}
	s.Handle("GET /fall", service.Access{Anonymous: true}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fallOver(r.URL.Query().Get("name")) }))
	s.Handle("GET /nil", service.Access{Anonymous: true}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		var m *http.Request
		_ = m.Host
	}))
	s.Handle("GET /abort", service.Access{Anonymous: true}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	url, stop := run(t, s)
	for _, path := range []string{"/fall?name=Miller-4711", "/nil", "/abort"} {
		if got, _ := answer(from(t, "127.0.0.1", url), path); got != "closed" {
			t.Errorf("%s: %s", path, got)
		}
	}
	text := metrics(t, from(t, "127.0.0.1", url))
	if err := stop(); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if !strings.Contains(text, "test_panics_total 2\n") {
		t.Errorf("the metrics are\n%s", text)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"stack":"service_test.fallOver address_test.go:`) || !strings.Contains(lines[1], "runtime.sigpanic") || !strings.Contains(lines[1], "address_test.go:") {
		t.Errorf("the log is\n%s", log.String())
	}
	for _, never := range []string{"Miller", "4711", "127.0.0.1", "0x", "/work", "withheld"} {
		if strings.Contains(log.String(), never) {
			t.Errorf("%q is in the log:\n%s", never, log.String())
		}
	}
}

//go:noinline
func fallOver(name string) { panic("cannot serve " + name) }
