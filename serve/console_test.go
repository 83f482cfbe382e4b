package serve_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// browser keeps cookies, and follows redirections as one does.
type browser struct {
	t    testing.TB
	h    *house
	http *http.Client
}

func (h *house) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &browser{h.t, h, &http.Client{Jar: jar}}
}

func (b *browser) do(r *http.Request) (int, string, http.Header) {
	b.t.Helper()
	answer, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

func (b *browser) get(path string) (int, string, http.Header) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.h.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(r)
}

// post sends a form; change may make the request another's.
func (b *browser) post(path string, form url.Values, change func(*http.Request)) (int, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.h.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if change != nil {
		change(r)
	}
	status, text, _ := b.do(r)
	return status, text
}

func (b *browser) signIn(person string) *browser {
	b.t.Helper()
	if status, text := b.post("/signin", url.Values{"token": {b.h.tokens[person]}}, nil); status != http.StatusOK || !strings.Contains(text, "<h1>Datasets</h1>") {
		b.t.Fatalf("signed in as %s: %d %s", person, status, text)
	}
	return b
}

var formKey = regexp.MustCompile(`name="key" value="([^"]+)"`)

// The way of an analyst and a steward through the pages: sign in, plan, ask, approve, read,
// verify.
func TestThroughThePages(t *testing.T) {
	h := opened(t, "approval: steward")
	ann, stella := h.browser(), h.browser()
	if status, text, _ := ann.get("/datasets/pbc"); status != http.StatusUnauthorized || !strings.Contains(text, "Paste the token") {
		t.Errorf("without a session: %d", status)
	}
	if status, text := ann.post("/signin", url.Values{"token": {"discreet_x"}}, nil); status != http.StatusUnauthorized || !strings.Contains(text, "no token") {
		t.Errorf("a wrong token: %d", status)
	}
	ann.signIn("ann")
	stella.signIn("stella")
	status, text, header := ann.get("/datasets/pbc")
	key := formKey.FindStringSubmatch(text)
	if status != http.StatusOK || key == nil {
		t.Fatalf("the dataset: %d %s", status, text)
	}
	if strings.Contains(text, h.dir) || strings.Contains(text, "trajectories.csv") {
		t.Error("the page tells where the data are")
	}
	if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("policy %q", policy)
	}
	form := url.Values{"key": {key[1]}, "question": {strings.ReplaceAll(wish(0.5), "\n", "\r\n")}, "purpose": {"a <look>"}}
	if status, text := ann.post("/datasets/pbc/plan", form, nil); status != http.StatusOK || !strings.Contains(text, `class="plot"`) || !strings.Contains(text, "a steward has to approve it") {
		t.Errorf("the plan: %d %s", status, text)
	}
	wrong := url.Values{"key": {key[1]}, "question": {"data: {path: /etc/passwd}"}}
	if status, text := ann.post("/datasets/pbc/plan", wrong, nil); status != http.StatusBadRequest || !strings.Contains(text, "data") || strings.Contains(text, "root:") {
		t.Errorf("a wrong question: %d", status)
	}
	status, text = ann.post("/datasets/pbc/ask", form, nil)
	id := regexp.MustCompile(`<code>([0-9a-f-]{36})</code>`).FindStringSubmatch(text)
	if status != http.StatusOK || id == nil {
		t.Fatalf("the ask: %d %s", status, text)
	}
	page := "/asks/" + id[1]
	if status, text := ann.post("/datasets/pbc/ask", form, nil); status != http.StatusOK || !strings.Contains(text, id[1]) {
		t.Errorf("the form again: %d", status)
	}
	if status, _ := ann.post(page+"/decide", url.Values{"decision": {"approve"}}, nil); status != http.StatusForbidden {
		t.Errorf("an analyst approves: %d", status)
	}
	if _, text, _ := stella.get(page); !strings.Contains(text, "a &lt;look&gt;") || !strings.Contains(text, `value="approve"`) {
		t.Errorf("the steward sees %s", text)
	}
	if status, _ := stella.post(page+"/decide", url.Values{"decision": {"approve"}}, nil); status != http.StatusOK {
		t.Errorf("the steward approves: %d", status)
	}
	if a := h.end("ann", id[1]); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Fatalf("ended as %v", a)
	}
	if status, text, header := ann.get(page + "/report"); status != http.StatusOK || !strings.Contains(text, "</html>") || !strings.Contains(header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("the report: %d", status)
	}
	status, text, header = ann.get(page + "/release.json")
	if _, err := discreet.Verify([]byte(text), nil); status != http.StatusOK || err != nil || !strings.Contains(header.Get("Content-Disposition"), "attachment") {
		t.Errorf("the release: %d, %v", status, err)
	}
	if status, text := ann.post(page+"/verify", nil, nil); status != http.StatusOK || !strings.Contains(text, "The release holds") {
		t.Errorf("verified: %d %s", status, text)
	}
	if status, text, _ := stella.get("/datasets/pbc/audit"); status != http.StatusOK || !strings.Contains(text, "released") {
		t.Errorf("the audit log: %d", status)
	}
	for _, path := range []string{"/datasets/pbc/notices", "/datasets/pbc/audit"} {
		if status, _, _ := ann.get(path); status != http.StatusForbidden {
			t.Errorf("%s by an analyst: %d", path, status)
		}
	}
	amy := h.browser().signIn("amy")
	for _, path := range []string{page, page + "/report", page + "/release.json", "/datasets/other", "/asks/none"} {
		if status, _, _ := amy.get(path); status != http.StatusNotFound {
			t.Errorf("%s by another analyst: %d; want 404", path, status)
		}
	}
}

// A form that another site sends does nothing, a session is of no use for calls, and it
// ends with its token.
func TestASessionIsForThePagesAlone(t *testing.T) {
	h := opened(t, "")
	ann := h.browser().signIn("ann")
	form := url.Values{"key": {oneKey}, "question": {wish(0.5)}}
	for name, change := range map[string]func(*http.Request){
		"another site":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another origin": func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "https://evil.example") },
	} {
		if status, _ := ann.post("/datasets/pbc/ask", form, change); status != http.StatusForbidden {
			t.Errorf("a form of %s: %d; want 403", name, status)
		}
	}
	if status, _ := ann.post("/discreet.curator.v1.CuratorService/GetBudget", nil, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }); status != http.StatusUnauthorized {
		t.Errorf("a call with a session: %d; want 401", status)
	}
	u, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	session := ann.http.Jar.Cookies(u)[0]
	if strings.Contains(session.Value, h.tokens["ann"]) {
		t.Error("the cookie holds the token")
	}
	if err := h.config().RevokeToken("ann", "test"); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); ; {
		if status, _, _ := ann.get("/"); status == http.StatusUnauthorized {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the session outlives its token")
		}
	}
	amy := h.browser().signIn("amy")
	if status, _ := amy.post("/signout", nil, nil); status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", status)
	}
}

// A steward and an auditor see what each analyst spent, of a share where there is one;
// an analyst sees nothing of the others.
func TestTheBudgetByAnalyst(t *testing.T) {
	h := opened(t, "")
	if _, err := h.steward().SetShare(t.Context(), &curatorv1.SetShareRequest{Dataset: "pbc", Analyst: "ann", Share: &curatorv1.Budget{Epsilon: 2, Delta: 5e-6}}); err != nil {
		t.Fatal(err)
	}
	h.end("ann", h.ask("ann", oneKey, wish(0.5)))
	b, err := h.client("ann").GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
	if err != nil {
		t.Fatal(err)
	}
	anns := fmt.Sprintf("spent epsilon %.4g of 2, delta %.4g of 5e-06", b.GetSpent().GetEpsilon(), b.GetSpent().GetDelta())
	for person, sees := range map[string]bool{"stella": true, "arthur": true, "amy": false} {
		_, page, _ := h.browser().signIn(person).get("/datasets/pbc")
		for _, want := range []string{">ann</td>", anns, ">amy</td>"} {
			if strings.Contains(page, want) != sees {
				t.Errorf("%s sees %q: %v; want %v", person, want, !sees, sees)
			}
		}
	}
}

// A share is worth no more than the whole still holds.
func TestAShareIsOfWhatIsLeft(t *testing.T) {
	h := opened(t, "")
	if _, err := h.steward().SetShare(t.Context(), &curatorv1.SetShareRequest{Dataset: "pbc", Analyst: "ann", Share: &curatorv1.Budget{Epsilon: 2, Delta: 5e-6}}); err != nil {
		t.Fatal(err)
	}
	h.end("ann", h.ask("ann", oneKey, wish(0.5)))
	if _, err := h.steward().SetBudget(t.Context(), &curatorv1.SetBudgetRequest{Dataset: "pbc", Budget: &curatorv1.Budget{Epsilon: 1.5, Delta: 1e-5}, Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	b, err := h.client("ann").GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.GetBudget().GetEpsilon(); math.Abs(got-1.5) > 1e-9 {
		t.Errorf("ann, who has spent %v, may spend epsilon %v; want 1.5, which is all, and not the share of 2", b.GetSpent().GetEpsilon(), got)
	}
}

// Whoever decides reads what an ask asks, parsed and in words, before the buttons; and a
// question with a line end that only the parser sees is not taken in.
func TestTheStewardReadsWhatRuns(t *testing.T) {
	h := opened(t, "approval: steward")
	id := h.ask("ann", oneKey, "targets: [{name: new, kind: constant, action: 1}, {name: old, kind: constant, action: 0}]\ncontrasts: [[new, old]]\nlevels: none\nmethod: {name: dp-wis, max_weight: 3}\nprivacy: {epsilon: 0.5, delta: 1e-6}\njustification: <b>why</b>\n")
	_, page, _ := h.browser().signIn("stella").get("/asks/" + id)
	approve := strings.Index(page, `value="approve"`)
	for _, want := range []string{"policy new: constant: action 1", "policy old: constant: action 0", "difference: new less old", "values: of no policy by itself", "method: dp-wis, max_weight 3", "privacy: epsilon 0.5, delta 1e-06", "justification: &lt;b&gt;why"} {
		if at := strings.Index(page, want); at < 0 || at > approve {
			t.Errorf("%q stands at %d, and the button at %d", want, at, approve)
		}
	}
	for _, end := range []string{"\u0085", "\u2028", "\u2029", "\r"} {
		hidden := "method: {name: dp-wis}\nprivacy: {epsilon: 0.5, delta: 1e-6}\n# target: {kind: logged}" + end + "target: {kind: constant, action: 1}\n"
		if _, err := h.client("ann").Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: hidden, Key: oneKey + "-hidden"}); code(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "ends a line") {
			t.Errorf("%q: %v", end, err)
		}
	}
}
