package notify_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/serve/internal/notify"
)

func Example() {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		fmt.Println(string(text))
	}))
	defer receiver.Close()
	hook := notify.Webhook{URL: receiver.URL}
	err := hook.Send(context.Background(), notify.Message{ID: "1f", Dataset: "pbc", Kinds: []string{"records"}, Link: "https://curator.example.org/datasets/pbc/notices"})
	fmt.Println(err)
	// Output:
	// {"format":"discreet/notice/v1","id":"1f","dataset":"pbc","kinds":["records"],"link":"https://curator.example.org/datasets/pbc/notices","again":false}
	// <nil>
}

var message = notify.Message{ID: "1f", Dataset: "pbc", Kinds: []string{"ask", "records"}, Link: "https://c.example.org/datasets/pbc/notices"}

// certified is a configuration of TLS for 127.0.0.1, and who trusts it.
func certified(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, roots
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// mailTo is a channel to a server.
func mailTo(server string, security notify.Security, roots *x509.CertPool) notify.Mail {
	return notify.Mail{Server: server, Security: security, From: "discreet@example.org", To: "stella@example.org", Roots: roots,
		Now: func() time.Time { return time.Date(2026, 11, 28, 6, 0, 0, 0, time.UTC) }}
}

// A mail has the words that there is a notice, and a head that says what it is; a test comes to the
// recipient, and sends none.
func TestAMailIsDelivered(t *testing.T) {
	config, roots := certified(t)
	for _, security := range []notify.Security{notify.StartTLS, notify.Implicit} {
		s := &mailServer{tls: config, user: "discreet", password: "s3cret", implicit: security == notify.Implicit}
		m := mailTo(s.serve(t), security, roots)
		m.User, m.Password = "discreet", file(t, "s3cret\n")
		if err := m.Test(t.Context()); err != nil {
			t.Fatalf("%s: %v", security, err)
		}
		if mails, said := s.received(); len(mails) != 0 || !strings.Contains(strings.Join(said, "\n"), "RCPT TO:<stella@example.org>\nRSET") {
			t.Errorf("%s: a test sends %q by %q", security, mails, said)
		}
		again := message
		again.Again = true
		for _, sent := range []notify.Message{message, again} {
			if err := m.Send(t.Context(), sent); err != nil {
				t.Fatalf("%s: %v", security, err)
			}
		}
		const head = "FROM:<discreet@example.org> BODY=8BITMIME\nTO:<stella@example.org>\nFrom: <discreet@example.org>\r\nTo: <stella@example.org>\r\nDate: Sat, 28 Nov 2026 06:00:00 +0000\r\n" +
			"Message-ID: <1f@example.org>\r\nSubject: discreet: notice for dataset pbc\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" +
			"There is a notice of kind ask, records for dataset pbc.\r\nRead it at https://c.example.org/datasets/pbc/notices\r\n"
		mails, _ := s.received()
		if len(mails) != 2 || mails[0] != head || mails[1] != head+"This may be a repetition: whether an earlier attempt arrived is not known.\r\n" {
			t.Errorf("%s: %q", security, mails)
		}
	}
}

// Where the other side is not who it should be, or does not want to be safe, neither password nor
// mail is sent; what it refuses is an error.
func TestAMailServerThatIsWrong(t *testing.T) {
	config, roots := certified(t)
	for what, c := range map[string]struct {
		server   *mailServer
		security notify.Security
		roots    *x509.CertPool
		password string
		mail     bool // it may have the mail nevertheless
	}{
		"no STARTTLS":           {&mailServer{user: "u", password: "p"}, notify.StartTLS, roots, "p", false},
		"STARTTLS is refused":   {&mailServer{tls: config, user: "u", password: "p", refuses: "STARTTLS"}, notify.StartTLS, roots, "p", false},
		"another's certificate": {&mailServer{tls: config, user: "u", password: "p"}, notify.StartTLS, x509.NewCertPool(), "p", false},
		"implicit, another's":   {&mailServer{tls: config, user: "u", password: "p", implicit: true}, notify.Implicit, x509.NewCertPool(), "p", false},
		"plain text instead":    {&mailServer{user: "u", password: "p"}, notify.Implicit, roots, "p", false},
		"a wrong password":      {&mailServer{tls: config, user: "u", password: "p"}, notify.StartTLS, roots, "q", false},
		"no recipient":          {&mailServer{tls: config, user: "u", password: "p", refuses: "RCPT"}, notify.StartTLS, roots, "p", false},
		"no text":               {&mailServer{tls: config, user: "u", password: "p", refuses: "DATA"}, notify.StartTLS, roots, "p", false},
		"hangs up":              {&mailServer{tls: config, user: "u", password: "p", drops: "MAIL"}, notify.StartTLS, roots, "p", false},
		"hangs up after it":     {&mailServer{tls: config, user: "u", password: "p", drops: "."}, notify.StartTLS, roots, "p", true},
	} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			m := mailTo(c.server.serve(t), c.security, c.roots)
			m.User, m.Password = "u", file(t, c.password)
			if err := m.Send(ctx, message); err == nil {
				t.Error("it was sent")
			} else if strings.Contains(err.Error(), c.password+" ") {
				t.Errorf("the error tells the password: %v", err)
			}
			mails, said := c.server.received()
			if len(mails) > 0 != c.mail {
				t.Errorf("it has %q", mails)
			}
			if auth := strings.Contains(strings.Join(said, "\n"), "AUTH"); auth && (c.server.tls == nil || c.roots != roots || c.server.refuses == "STARTTLS") {
				t.Errorf("it was told the password: %q", said)
			}
		})
	}
}

// Neither a name nor an address opens a line of its own.
func TestNoLineIsSlippedIn(t *testing.T) {
	s := &mailServer{}
	at := s.serve(t)
	evil := message
	evil.Dataset, evil.ID = "pbc\r\nBcc: eve@example.org\r\n\r\nx", "1f\nX: y"
	if err := mailTo(at, notify.Plain, nil).Send(t.Context(), evil); err != nil {
		t.Fatal(err)
	}
	mails, _ := s.received()
	head, _, _ := strings.Cut(mails[0], "\r\n\r\n")
	for line := range strings.Lines(head) {
		if strings.HasPrefix(line, "Bcc") || strings.HasPrefix(line, "X:") {
			t.Errorf("the head has %q", line)
		}
	}
	for _, bad := range []notify.Mail{{To: "a@b>\r\nRCPT TO:<eve@example.org"}, {From: "a@b>\r\nMAIL FROM:<x"}} {
		m := mailTo(at, notify.Plain, nil)
		if bad.To != "" {
			m.To = bad.To
		} else {
			m.From = bad.From
		}
		if err := m.Send(t.Context(), message); err == nil {
			t.Errorf("%q, %q were taken", m.From, m.To)
		}
	}
}

// Whoever answers never, or without end, holds nobody up and fills no memory.
func TestAnEndlessAnswer(t *testing.T) {
	flood := func(greeting string) string {
		return listening(t, func(c net.Conn) {
			defer c.Close()
			_, err := io.WriteString(c, greeting)
			for line := strings.Repeat("x", 1<<16); err == nil && greeting != ""; {
				_, err = io.WriteString(c, line)
			}
			_, _ = io.Copy(io.Discard, c)
		})
	}
	for what, to := range map[string]notify.Channel{
		"a mail server that is silent": mailTo(flood(""), notify.Plain, nil),
		"one that greets for ever":     mailTo(flood("220 "), notify.Plain, nil),
		"a webhook that is silent":     notify.Webhook{URL: "http://" + flood("")},
		"one without an end of lines":  notify.Webhook{URL: "http://" + flood("HTTP/1.1 200 OK\r\nX: ")},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := to.Send(ctx, message); err == nil {
			t.Errorf("%s: it was sent", what)
		}
		cancel()
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
			t.Errorf("%s: %d bytes were allocated", what, grown)
		}
	}
}

// A webhook is sent the token of its file and the message, and follows nobody elsewhere; a long
// answer is not read.
func TestAWebhookFollowsNobody(t *testing.T) {
	var inside atomic.Int64
	internal := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	defer internal.Close()
	var answer, read atomic.Int64
	answer.Store(http.StatusOK)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m map[string]any
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer t0ken" || m["format"] != "discreet/notice/v1" {
			t.Errorf("%s %v, %v", r.Method, m, err)
		}
		status := int(answer.Load())
		w.Header().Set("Location", internal.URL)
		w.WriteHeader(status)
		for status == http.StatusOK {
			n, err := w.Write(make([]byte, 1<<16))
			if read.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	hook := notify.Webhook{URL: s.URL, Token: file(t, "t0ken"), Roots: roots}
	if err := hook.Send(t.Context(), message); err != nil {
		t.Error(err)
	}
	for _, status := range []int64{301, 302, 303, 307, 308, 400, 401, 404, 500, 503} {
		answer.Store(status)
		for _, err := range []error{hook.Send(t.Context(), message), hook.Test(t.Context())} {
			if err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) || strings.Contains(err.Error(), "t0ken") {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
	if n := inside.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
	if n := read.Load(); n > 64<<20 {
		t.Errorf("%d bytes of an answer were read", n)
	}
	hook.Roots = x509.NewCertPool()
	if err := hook.Send(t.Context(), message); err == nil || strings.Contains(err.Error(), s.URL) {
		t.Errorf("another's certificate: %v", err)
	}
	for _, bad := range []string{"", "two\nlines"} {
		hook.Token = file(t, bad)
		if err := hook.Send(t.Context(), message); err == nil {
			t.Errorf("token %q is taken", bad)
		}
	}
}

// Authorities are those of a file that holds some.
func TestRootsOfAFile(t *testing.T) {
	if _, err := notify.Roots(file(t, "nothing")); err == nil {
		t.Error("a file without certificates is taken")
	}
	if _, err := notify.Roots(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is missing is taken")
	}
	if _, err := notify.Roots(""); err != nil {
		t.Error(err)
	}
}
