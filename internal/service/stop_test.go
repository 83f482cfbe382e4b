// How a server ends, and what it does with who is slow: requests end, or are cut off, and connections wait.

package service_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
)

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
