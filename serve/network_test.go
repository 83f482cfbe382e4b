package serve_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// packed is a call of ann's whose body is packed.
func (h *house) packed(body string) (int, string) {
	h.t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, body); err != nil {
		h.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		h.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url+"/discreet.curator.v1.CuratorService/GetBudget", &b)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "gzip")
	answer, err := (&http.Client{Transport: bearer(h.tokens["ann"])}).Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// A packed message is unpacked as far as a call may be long, and no further: an answer that told
// its whole length would have unpacked it all.
func TestAPackedMessageIsNotUnpackedToItsEnd(t *testing.T) {
	h := opened(t, "")
	const dataset, most = `{"dataset":"pbc"}`, 4 << 20
	for _, spaces := range []int{0, most - len(dataset)} {
		if status, text := h.packed(dataset + strings.Repeat(" ", spaces)); status != http.StatusOK {
			t.Errorf("%d bytes: %d %s", len(dataset)+spaces, status, text)
		}
	}
	for _, spaces := range []int{most - len(dataset) + 1, 8 * most} {
		status, text := h.packed(dataset + strings.Repeat(" ", spaces))
		if status != http.StatusTooManyRequests || !strings.Contains(text, "longer than 4 MiB") || strings.Contains(text, "message size") {
			t.Errorf("%d bytes: %d %s; want resource_exhausted, and its length untold", len(dataset)+spaces, status, text)
		}
	}
	if status, text := h.packed(dataset); status != http.StatusOK {
		t.Errorf("after one that was too long: %d %s", status, text)
	}
}

// What a steward or an analyst reads is what was written: nothing reorders it, and nothing in it
// is an order to a terminal.
func TestTextsReadAsTheyAre(t *testing.T) {
	h := opened(t, "approval: steward")
	plan := func(question string) error {
		_, err := h.client("ann").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: question})
		return err
	}
	for name, question := range map[string]string{
		"line 2":        strings.Replace(wish(.1), "\n", "\n# \u202e", 1),
		"line 1":        "# \u2066a\u2069\n" + wish(.1),
		"justification": wish(.1) + `justification: "\e[2J"`,
	} {
		if err := plan(question); code(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, question := range []string{wish(.1) + "# größer als früher, 中文\n", wish(.1) + "justification: |\n  two\n  lines\n"} {
		if err := plan(question); err != nil {
			t.Errorf("%q: %v", question, err)
		}
	}
	id := h.ask("ann", oneKey, wish(.1))
	for _, reason := range []string{"no\nask 2 approved", "\x1b[2Jno", "\u202eno", "no\xff"} {
		if status, _ := h.browser().signIn("stella").post("/asks/"+id+"/decide", url.Values{"decision": {"refuse"}, "reason": {reason}}, nil); status != http.StatusBadRequest {
			t.Errorf("reason %q: %d; want 400", reason, status)
		}
	}
	if a := h.state("ann", id); a.GetState() != curatorv1.State_STATE_WAITING {
		t.Errorf("decided all the same: %v", a)
	}
}

// The rate of calls holds for pages too, by person: an analyst who plans in a browser takes no
// more of the processor than one who calls.
func TestPagesAreCountedByPerson(t *testing.T) {
	h := furnish(t, "")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "calls_per_second: 100000", "calls_per_second: 1", 1))
	h.open()
	ann, amy := h.browser().signIn("ann"), h.browser().signIn("amy")
	held := 0
	for range 30 {
		switch status, text, header := ann.get("/datasets/pbc"); {
		case status == http.StatusTooManyRequests && header.Get("Retry-After") != "" && strings.Contains(text, "Too many pages"):
			held++
		case status != http.StatusOK:
			t.Fatalf("%d %s", status, text)
		}
	}
	if held == 0 {
		t.Error("thirty pages at once; want at most four and one a second")
	}
	if status, _, _ := amy.get("/datasets/pbc"); status != http.StatusOK {
		t.Errorf("another analyst: %d", status)
	}
}

// Streams of one person are bounded, and one that ends makes place.
func TestWatchesAreBounded(t *testing.T) {
	h := opened(t, "approval: steward")
	id := h.ask("ann", oneKey, wish(.1))
	watch := func() (func(), error) {
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := h.client("ann").WatchAsk(ctx, &curatorv1.WatchAskRequest{Id: id})
		if err != nil {
			cancel()
			return nil, err
		}
		end := func() { cancel(); _ = stream.Close() }
		if !stream.Receive() {
			end()
			return nil, stream.Err()
		}
		return end, nil
	}
	var ends []func()
	for range 128 {
		end, err := watch()
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	if _, err := watch(); code(err) != connect.CodeResourceExhausted {
		t.Errorf("the one beyond: %v", err)
	}
	if a := h.state("ann", id); a.GetState() != curatorv1.State_STATE_WAITING {
		t.Errorf("other calls: %v", a)
	}
	ends[0]()
	for { // the service learns in its time that a client has gone
		end, err := watch()
		if err == nil {
			end()
			break
		}
		if code(err) != connect.CodeResourceExhausted {
			t.Fatal(err)
		}
	}
	for _, end := range ends[1:] {
		end()
	}
}

// The metrics of a service without TLS are for its machine: not under a name that another site
// made to stand for loopback, nor through a proxy that passes its own on.
func TestMetricsAreForThisMachine(t *testing.T) {
	h := opened(t, "")
	for host, want := range map[string]int{"": 200, "localhost:8420": 200, "curator.example.org": 421} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("under the name %q: %d; want %d", host, answer.StatusCode, want)
		}
	}
}

// Where browsers come by https, to a proxy in front of the service, a session is sent over https
// alone, and a neighbour of the host's domain cannot set one.
func TestASessionOverHTTPSIsOfThisHost(t *testing.T) {
	h := furnish(t, "")
	a := newAuthority(t)
	h.write("serve.yaml", h.read("serve.yaml")+"oidc: {issuer: "+a.URL+", audience: "+client+", claim: sub, address: 'https://curator.example.org'}\n")
	h.open()
	b := h.browser().stops()
	session := func(path string) *http.Cookie {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/signin", strings.NewReader(url.Values{"token": {h.tokens["ann"]}}.Encode()))
		if path != "" {
			r, err = http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, err := b.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if len(answer.Cookies()) != 1 {
			t.Fatalf("%s: %d, cookies %v", path, answer.StatusCode, answer.Cookies())
		}
		return answer.Cookies()[0]
	}
	mine := session("")
	if mine.Name != "__Host-discreet_session" || !mine.Secure || mine.Path != "/" || mine.Domain != "" || !mine.HttpOnly {
		t.Errorf("the session is %v", mine)
	}
	if attempt := session("/signin/issuer"); !attempt.Secure {
		t.Errorf("the attempt to sign in is %v", attempt)
	}
	for name, want := range map[string]int{mine.Name: http.StatusOK, "discreet_session": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: name, Value: mine.Value})
		if status, _, _ := h.browser().do(r); status != want {
			t.Errorf("a session under the name %s: %d; want %d", name, status, want)
		}
	}
}
