package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// web is a URL. GET answers with the lines, POST appends one.
type web struct {
	url      string
	patience time.Duration
	client   *http.Client
}

// mostBody is how long an answer may be, in bytes.
const mostBody = 16 << 20

func parseWeb(name string) (Place, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(name, "#") {
		return nil, errors.New("want a URL of a host and a path alone, such as https://example.org/witness/trial: everybody reads it, so it holds no password")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("%q: want https: on the way, anybody could change what http carries", name)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives, transport.DisableCompression = true, true
	return &web{name, patience, &http.Client{
		Transport: transport,
		// A redirected POST becomes a GET, which appends nothing and succeeds.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (w *web) String() string { return w.url }

func (w *web) Tail(ctx context.Context) ([]byte, error) {
	text, err := w.do(ctx, http.MethodGet, nil, http.StatusOK)
	return lastLines(text), err
}

// Append posts the line and reads it back: a server may answer well and keep
// nothing.
func (w *web) Append(ctx context.Context, line []byte) error {
	if _, err := w.do(ctx, http.MethodPost, line, http.StatusOK, http.StatusCreated, http.StatusNoContent); err != nil {
		return err
	}
	tail, err := w.Tail(ctx)
	if err == nil && !bytes.Contains(append([]byte("\n"), tail...), append([]byte("\n"), line...)) {
		err = errors.New("the server took the line and does not show it")
	}
	return err
}

// do makes a request and returns the body of an answer of one of the statuses.
func (w *web) do(ctx context.Context, method string, body []byte, want ...int) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.patience, fmt.Errorf("no answer within %v", w.patience))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, w.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Cache-Control", "no-cache")
	if body != nil {
		request.Header.Set("Content-Type", "application/x-ndjson")
	}
	answer, err := w.client.Do(request)
	if err != nil {
		return nil, because(ctx, err)
	}
	defer answer.Body.Close()
	switch {
	case method == http.MethodGet && answer.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%w: the server answers 404", ErrAbsent)
	case !slices.Contains(want, answer.StatusCode):
		return nil, fmt.Errorf("the server answers %d to %s", answer.StatusCode, method)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostBody+1))
	if err != nil {
		return nil, because(ctx, err)
	}
	if len(text) > mostBody {
		return nil, fmt.Errorf("the server answers with more than %d bytes; the newest lines would do", mostBody)
	}
	return text, nil
}

// because names the reason for which a request was given up.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
