package witness

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// keeper is a server as docs/ledger.md asks for.
type keeper struct {
	mu   sync.Mutex
	text []byte
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case r.Method == http.MethodPost:
		line, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		k.text = append(k.text, line...)
		w.WriteHeader(http.StatusCreated)
	case k.text == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Write(k.text)
	}
}

func webAt(t *testing.T, h http.HandlerFunc) *web {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return parsed(t, s.URL+"/x").(*web)
}

// A server that does anything else than it should is no place with nothing in it.
func TestServersThatFail(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"500":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "answers 500"},
		"401":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "answers 401"},
		"202":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }, "answers 202"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) }, "answers 302"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("{}\n"))
		}, "unexpected EOF"},
		"hangs": {func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() }, "no answer within 300ms"},
		"hangs halfway": {func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Write([]byte("{}\n"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "no answer within 300ms"},
		"says otherwise": {func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			w := webAt(t, c.serve)
			if strings.HasPrefix(name, "hangs") {
				w.patience = 300 * time.Millisecond
			}
			for what, err := range map[string]error{"tail": second(w.Tail(context.Background())), "append": w.Append(context.Background(), []byte("line\n"))} {
				if err == nil || errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v; want %q", what, err, c.want)
				}
			}
		})
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

// A server that takes lines and keeps none, or runs them together, is found by
// reading back.
func TestServersThatLie(t *testing.T) {
	for name, shown := range map[string]string{"nothing": "", "another": "other\n", "without its newline": "line", "as the end of another": "on line\n"} {
		w := webAt(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				io.WriteString(w, shown)
			}
		})
		if err := w.Append(context.Background(), []byte("line\n")); err == nil || !strings.Contains(err.Error(), "does not show it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := webAt(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	if err := w.Append(context.Background(), []byte("line\n")); !errors.Is(err, ErrAbsent) {
		t.Errorf("%v; want ErrAbsent", err)
	}
}

// A body without end is given up after 16 MiB.
func TestABodyWithoutEnd(t *testing.T) {
	var sent atomic.Int64
	done := make(chan struct{})
	chunk := bytes.Repeat([]byte("{}\n"), 1<<18)
	w := webAt(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		for sent.Load() < 1<<30 {
			n, err := w.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	if _, err := w.Tail(context.Background()); err == nil || !strings.Contains(err.Error(), "more than 16777216 bytes") {
		t.Errorf("%v; want that it is too long", err)
	}
	<-done
	if n := sent.Load(); n > 64<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}

// TLS is checked against the roots of the system.
func TestUnknownCertificateIsRefused(t *testing.T) {
	k := &keeper{}
	s := httptest.NewUnstartedServer(k)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	w := parsed(t, s.URL+"/x").(*web)
	if err := w.Append(context.Background(), []byte("line\n")); err == nil || !strings.Contains(err.Error(), "certificate") || k.text != nil {
		t.Errorf("%v; want that the certificate is unknown, and nothing told", err)
	}
	w.client.Transport = s.Client().Transport
	if err := w.Append(context.Background(), []byte("line\n")); err != nil {
		t.Errorf("a certificate that is known: %v", err)
	}
}
