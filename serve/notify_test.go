package serve_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// told is what a webhook was sent.
type told struct {
	Format, ID, Dataset, Link string
	Kinds                     []string
	Again                     bool
}

// hook is a webhook, which refuses some.
type hook struct {
	*httptest.Server
	mu      sync.Mutex
	all     []told
	texts   []string
	refuses func(told) bool
}

func hooked(t testing.TB) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var m told
		if err := errors.Join(err, json.Unmarshal(text, &m)); err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all, h.texts = append(h.all, m), append(h.texts, string(text))
		if h.refuses != nil && h.refuses(m) {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// of are the messages about the dataset.
func (h *hook) of() (all []told) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.all {
		if m.Dataset != "" {
			all = append(all, m)
		}
	}
	return all
}

func (h *hook) refuse(f func(told) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuses = f
}

// notifies adds receivers to the configuration of a house.
func (h *house) notifies(keys string) *house {
	h.write("serve.yaml", h.read("serve.yaml")+"notify:\n  address: https://curator.example.org\n  "+keys+"\n")
	h.prepare = (*serve.Service).Hurry
	return h
}

// soon waits until something holds.
func soon(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it does not come", what)
		}
	}
}

// faulty has data in which each check fails.
func (h *house) faulty() *house {
	h.write("data.csv", strings.Replace(readFile(h.t.(*testing.T), trial), "\n", "\nsecret-patient,not-a-number,", 1))
	h.write("pbc.yaml", strings.Replace(fmt.Sprintf(part, filepath.Join(h.dir, "data.csv"), 312), "data:\n", "data:\n  on_violation: reject\n", 1))
	return h
}

// A failed check is told to webhook and steward in no more words than that there is a notice. A
// receiver that does not take it is told again, also after a restart, and is told that it is again;
// what it took is not sent again.
func TestAFailedCheckIsToldOutside(t *testing.T) {
	w := hooked(t)
	w.refuse(func(m told) bool { return m.Dataset != "" })
	post := postOffice(t)
	h := furnish(t, "").faulty().notifies(fmt.Sprintf("webhook: {url: %q}\n  mail: {server: %q, tls: none, from: discreet@example.org, to: {stella: stella@example.org}}", w.URL, post.at))
	h.prepare = func(s *serve.Service) {
		s.Hurry()
		s.Untested()
	}
	h.open()
	h.end("ann", h.ask("ann", oneKey, wish(0.5)))
	soon(t, "attempts", func() bool { return len(w.of()) >= 3 })
	if !slices.Contains(h.scraped(), `discreet_curator_notify_refused{channel="webhook"} 0`) {
		t.Error("the metrics tell that a message about an ask was refused")
	}
	soon(t, "a mail", func() bool { return len(post.mails()) > 0 })
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	before := len(w.of())
	w.refuse(nil)
	h.open()
	soon(t, "another attempt", func() bool { return len(w.of()) > before })
	h.end("ann", h.ask("ann", oneKey+"-2", wish(0.5)))
	id := w.of()[0].ID
	soon(t, "the next message", func() bool { return w.of()[len(w.of())-1].ID != id })
	for i, m := range w.of() {
		if want := i > 0 && m.ID == id; m.Again != want || !slices.Equal(m.Kinds, []string{"ask"}) || m.Dataset != "pbc" || m.Link != "https://curator.example.org/datasets/pbc/notices" {
			t.Errorf("message %d is %+v; want again %v", i, m, want)
		}
	}
	if n := len(w.of()); n != before+2 {
		t.Errorf("%d messages after the restart; want one about each notice", n-before)
	}
	soon(t, "the second mail", func() bool { return len(post.mails()) == 2 })
	for _, text := range append(w.texts, post.mails()...) {
		for _, secret := range []string{"secret", "data.csv", h.dir, "number", "row", "check", "ann", "epsilon"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q tells %q", text, secret)
			}
		}
	}
}

// What is wrong with store, ledger and witness is a notice and a message, and so is its end. Of a
// store that cannot keep a notice the message says that it may come again.
func TestALossIsToldOutside(t *testing.T) {
	w := hooked(t)
	h := furnish(t, "").notifies(fmt.Sprintf("webhook: {url: %q}", w.URL)).open()
	h.answered(0, 1)
	soon(t, "what the run noticed", func() bool { return len(w.of()) == 1 })
	looked := func(n int) func() bool {
		return func() bool {
			if r, err := http.Get(h.url + "/readyz"); err == nil {
				r.Body.Close()
			}
			return len(w.of()) >= n
		}
	}
	place := filepath.Join(h.dir, "budget.db")
	if err := os.Rename(place, place+".away"); err != nil {
		t.Fatal(err)
	}
	soon(t, "the loss", looked(2))
	if err := os.Rename(place+".away", place); err != nil {
		t.Fatal(err)
	}
	soon(t, "its end", looked(3))
	list, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"})
	if err != nil || len(list.GetNotices()) < 2 || !strings.Contains(list.GetNotices()[1].GetText(), "the ledger is missing") || !strings.Contains(list.GetNotices()[0].GetText(), "agree again") {
		t.Errorf("the notices are %v, %v", list, err)
	}
	h.set(`DELETE FROM curator_audit WHERE seq = (SELECT max(seq) FROM curator_audit)`)
	soon(t, "the store's", looked(4))
	for i, m := range w.of()[1:] {
		if !slices.Equal(m.Kinds, []string{"records"}) || m.Again != (i == 2) {
			t.Errorf("message %d is %+v", i, m)
		}
	}
}

// scraped are the lines of the metrics.
func (h *house) scraped() []string {
	h.t.Helper()
	r, err := h.operator.Get(h.url + "/metrics")
	if err != nil {
		h.t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		h.t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// A service whose checks fail, so that asks wait for the steward and messages are refused, shows the
// same metrics as one whose checks pass.
func TestMetricsTellNoFailedCheck(t *testing.T) {
	shown := map[bool][]string{}
	for _, fails := range []bool{false, true} {
		w := hooked(t)
		w.refuse(func(m told) bool { return slices.Contains(m.Kinds, "ask") })
		h := furnish(t, "").notifies(fmt.Sprintf("webhook: {url: %q}", w.URL))
		if fails {
			h.faulty()
		}
		h.open()
		for i := range 4 {
			id := h.ask("ann", fmt.Sprintf("%s-%d", oneKey, i), wish(0.1))
			if fails && i == 3 {
				h.untilNoticed(id) // it waits for the steward
				soon(t, "messages", func() bool { return len(w.of()) > 2 })
			} else {
				h.end("ann", id)
			}
		}
		// As they are minutes later.
		h.set(`UPDATE curator_ask SET asked = asked - 300000000, queued = queued - 300000000, told = CASE told WHEN 0 THEN 0 ELSE told - 200000000 END, counted_until = CASE counted_until WHEN 0 THEN 0 ELSE counted_until - 200000000 END`)
		shown[fails] = slices.DeleteFunc(h.scraped(), func(l string) bool {
			return strings.HasPrefix(l, "#") || !strings.Contains(l, "{dataset=") && !strings.Contains(l, "{channel=") && !strings.Contains(l, "asks_total")
		})
		if n := len(shown[fails]); n < 10 {
			t.Fatalf("%d lines: %q", n, shown[fails])
		}
		if err := h.stop(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(shown[false], shown[true]) {
		t.Errorf("checks pass:\n%s\nchecks fail:\n%s", strings.Join(shown[false], "\n"), strings.Join(shown[true], "\n"))
	}
}

// What would send notices to nobody, in clear, or by forged lines, does not start.
func TestReceiversHaveToBeSafe(t *testing.T) {
	const mail = "mail: {server: %q, from: %q, to: {%s}%s}"
	for _, c := range []struct{ keys, words string }{
		{"webhook: {url: http://example.org/x}", "notify.webhook.url"},
		{"webhook: {url: https://user:password@example.org}", "notify.webhook.url"},
		{"authorities: ca.pem", "notify.webhook or mail"},
		{fmt.Sprintf(mail, "smtp.example.org", "a@b.org", "stella: s@b.org", ""), "notify.mail.server"},
		{fmt.Sprintf(mail, "smtp.example.org:25", "a@b.org", "stella: s@b.org", ", tls: none"), "notify.mail.tls is none"},
		{fmt.Sprintf(mail, "smtp.example.org:25", "a@b.org", "stella: s@b.org", ", tls: maybe"), "notify.mail.tls is"},
		{fmt.Sprintf(mail, "smtp.example.org:25", "a@b.org\nBcc: x@y.org", "stella: s@b.org", ""), "notify.mail.from"},
		{fmt.Sprintf(mail, "smtp.example.org:25", "a@b.org", `stella: "Stella <s@b.org>"`, ""), "notify.mail.to.stella"},
		{fmt.Sprintf(mail, "smtp.example.org:25", "a@b.org", "ann: s@b.org", ""), "steward of no dataset"},
		{fmt.Sprintf(mail, "smtp.example.org:25", "a@b.org", "", ""), "notify.mail.to is missing"},
		{fmt.Sprintf(mail, "smtp.example.org:25", "a@b.org", "stella: s@b.org", ", user: u"), "go together"},
		{"webhook: {url: https://example.org, secret: x}", "secret"},
	} {
		h := furnish(t, "").notifies(c.keys)
		if _, err := serve.Load(filepath.Join(h.dir, "serve.yaml")); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v; want %q", c.keys, err, c.words)
		}
	}
	h := furnish(t, "")
	h.write("serve.yaml", h.read("serve.yaml")+"notify: {webhook: {url: https://example.org}}\n")
	if _, err := serve.Load(filepath.Join(h.dir, "serve.yaml")); err == nil || !strings.Contains(err.Error(), "notify.address") {
		t.Errorf("without an address: %v", err)
	}
}

// office is a mail server that takes everything.
type office struct {
	at   string
	mu   sync.Mutex
	took []string
}

func postOffice(t *testing.T) *office {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	o := &office{at: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go o.talk(c)
		}
	}()
	return o
}

func (o *office) talk(c net.Conn) {
	defer c.Close()
	fmt.Fprint(c, "220 here\r\n")
	text, within := "", false
	for in := bufio.NewScanner(c); in.Scan(); {
		switch line := in.Text(); {
		case within && line == ".":
			o.mu.Lock()
			o.took = append(o.took, text)
			o.mu.Unlock()
			text, within = "", false
			fmt.Fprint(c, "250 ok\r\n")
		case within:
			text += line + "\n"
		case line == "DATA":
			within = true
			fmt.Fprint(c, "354 go on\r\n")
		default:
			fmt.Fprint(c, "250 ok\r\n")
		}
	}
}

func (o *office) mails() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.took)
}
