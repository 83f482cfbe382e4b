package serve_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// log reads what the audit log has of a dataset from a line on, but for what workers did.
func (h *house) log(token, dataset string, from int64) (lines []string, next int64) {
	h.t.Helper()
	c := curatorv1.NewStewardServiceClient(&http.Client{Transport: bearer(token)}, h.url)
	for page := fmt.Sprint(from); page != ""; {
		r, err := c.ListAudit(h.t.Context(), &curatorv1.ListAuditRequest{Dataset: dataset, PageToken: page, PageSize: 100})
		if err != nil {
			h.t.Fatal(err)
		}
		for _, e := range r.GetEntries() {
			from = e.GetSeq() + 1
			if e.GetWho() != "worker" {
				lines = append(lines, strings.TrimSpace(e.GetWho()+": "+e.GetWhat()+" "+e.GetAsk()))
			}
		}
		page = r.GetNextPageToken()
	}
	return lines, from
}

// since is what the log of the trial has since it was asked last.
func (h *house) since(next *int64) []string {
	h.t.Helper()
	lines, n := h.log(h.tokens["stella"], "pbc", *next)
	*next = n
	return lines
}

func (h *house) logged(what string, next *int64, want ...string) {
	h.t.Helper()
	if got := h.since(next); !slices.Equal(got, want) {
		h.t.Errorf("%s: the log has %q; want %q", what, got, want)
	}
}

// does says, of each call, what stands in the log where it is allowed; nothing for those that read
// what is no release and no notice. $ is the ask's id.
var does = map[string][]string{
	"CuratorService.ListDatasets":  nil,
	"CuratorService.GetDataset":    nil,
	"CuratorService.Plan":          nil,
	"CuratorService.Ask":           {"queued +"},
	"CuratorService.GetAsk":        nil,
	"CuratorService.WatchAsk":      nil,
	"CuratorService.ListAsks":      nil,
	"CuratorService.WithdrawAsk":   nil, // too late for this one
	"CuratorService.GetRelease":    {"reads the release $"},
	"CuratorService.VerifyRelease": {"verifies the release $"},
	"CuratorService.GetBudget":     nil,
	"CuratorService.PutPolicy":     {"uploads policy p.json"},
	"StewardService.Decide":        nil, // too late
	"StewardService.SetShare":      {"sets the share of ann to epsilon 0, delta 0", "sets the share of ann to epsilon 0, delta 0: refused, nothing was changed"},
	"StewardService.SetBudget":     {"sets the budget to epsilon 0, delta 0", "sets the budget to epsilon 0, delta 0: refused, nothing was changed"},
	"StewardService.ListNotices":   nil, // they say what is wrong where the log cannot be written
	"StewardService.ClearChecks":   {"clears the failed checks"},
	"StewardService.ListAudit":     nil,
}

// Every call of every service, by every role, allowed and refused, on one's own dataset, on
// another's and on one that is not there: what has to stand in the log does when the answer comes,
// and nothing else. A call that the tables do not list fails the test.
func TestEveryCallStandsInTheLog(t *testing.T) {
	h := furnish(t, "")
	h.write("serve.yaml", fmt.Sprintf(configuration, "")+"  other:\n    config: other.yaml\n    budget: {epsilon: 3, delta: 1e-5}\n    people: {oscar: steward}\n")
	h.write("other.yaml", strings.ReplaceAll(h.read("pbc.yaml"), "dataset: pbc", "dataset: other"))
	oscar, err := h.config().CreateToken("oscar", "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	h.open()
	id := h.ask("ann", oneKey, wish(0.1))
	h.end("ann", id)
	var next, others int64
	h.since(&next)
	_, others = h.log(oscar, "other", 0)
	roles := []struct{ letter, person string }{{"a", "ann"}, {"o", "amy"}, {"s", "stella"}, {"u", "arthur"}}
	services := curatorv1.File_discreet_curator_v1_curator_proto.Services()
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			name := fmt.Sprintf("%s.%s", services.Get(i).Name(), m.Name())
			events, listed := does[name]
			if !listed {
				t.Errorf("%s is not in the table", name)
			}
			call := fmt.Sprintf("/%s/%s", services.Get(i).FullName(), m.Name())
			ofAsk := m.Input().Fields().ByName("id") != nil
			for _, role := range roles {
				token, who := h.tokens[role.person], role.person
				h.status(token, call, filled(m, "pbc", id), m.IsStreamingServer())
				want := []string{}
				switch {
				case strings.Contains(may[name], role.letter):
					for _, e := range events {
						want = append(want, who+": "+strings.ReplaceAll(e, "$", id))
					}
				case ofAsk:
					want = append(want, fmt.Sprintf("%s: refused: %s %s", who, m.Name(), id))
				default:
					want = append(want, fmt.Sprintf("%s: refused: %s", who, m.Name()))
				}
				got := h.since(&next)
				if len(want) == 1 && strings.HasSuffix(want[0], "queued +") { // a new id
					if len(got) == 1 && strings.HasPrefix(got[0], strings.TrimSuffix(want[0], "+")) {
						continue
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s by %s: the log has %q; want %q", name, who, got, want)
				}
				if name == "CuratorService.ListDatasets" {
					continue
				}
				h.status(token, call, filled(m, "other", "0193-none"), m.IsStreamingServer())
				refused := fmt.Sprintf("%s: refused: %s", who, m.Name())
				var inOther []string
				inOther, others = h.log(oscar, "other", others)
				switch got := h.since(&next); {
				case ofAsk && !slices.Equal(append(got, inOther...), []string{refused}):
					t.Errorf("%s by %s on an ask that is not there: %q, %q", name, who, got, inOther)
				case !ofAsk && (len(got) != 0 || !slices.Equal(inOther, []string{refused})):
					// (for the dataset's own steward alone)
					t.Errorf("%s by %s on another's dataset: %q, and there %q", name, who, got, inOther)
				}
			}
		}
	}
	// Of nobody, all that comes from one address is one line, and a number at the end.
	n := 0
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			for _, token := range []string{"", "x", h.tokens["ann"] + "A"} {
				n++
				if status, _ := h.post(token, fmt.Sprintf("/%s/%s", services.Get(i).FullName(), methods.Get(j).Name()), "{}"); status != http.StatusUnauthorized {
					t.Errorf("status %d", status)
				}
			}
		}
	}
	h.logged("nobody", &next, "(nobody): refused: no valid token or certificate")
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.open()
	after := h.since(&next)
	for _, want := range []string{fmt.Sprintf("(nobody): refused: no valid token or certificate: %d more within a minute", n-1)} {
		if !slices.Contains(after, want) {
			t.Errorf("after the stop the log has %q; want %q", after, want)
		}
	}
	whole := h.since(new(int64))
	for _, secret := range []string{h.tokens["ann"], h.tokens["stella"], "dp-wis", "trajectories", h.dir, "0193-none", "a test"} {
		if strings.Contains(strings.Join(whole, "\n"), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	if lines, _, err := h.config().VerifyAudit(t.Context()); err != nil || lines < int64(len(whole)) {
		t.Errorf("%d lines, %v", lines, err)
	}
}

// What a steward and an analyst change stands in the log, in the words of the table in the
// documentation.
func TestChangesStandInTheLog(t *testing.T) {
	h := opened(t, "approval: steward")
	next := int64(0)
	h.since(&next)
	id := h.ask("ann", oneKey, wish(0.1))
	h.logged("an ask", &next, "ann: waiting "+id)
	if _, err := h.steward().Decide(t.Context(), &curatorv1.DecideRequest{Id: id, Approve: true}); err != nil {
		t.Error(err)
	}
	h.end("ann", id)
	h.logged("approval", &next, "stella: queued "+id)
	for key, end := range map[string]func(string) error{
		"refused": func(id string) error {
			_, err := h.steward().Decide(t.Context(), &curatorv1.DecideRequest{Id: id, Reason: "private-words"})
			return err
		},
		"withdrawn": func(id string) error {
			_, err := h.client("ann").WithdrawAsk(t.Context(), &curatorv1.WithdrawAskRequest{Id: id})
			return err
		},
	} {
		id := h.ask("ann", oneKey+"-"+key, wish(0.1))
		if err := end(id); err != nil {
			t.Error(err)
		}
		who := map[string]string{"refused": "stella", "withdrawn": "ann"}[key]
		h.logged(key, &next, "ann: waiting "+id, who+": "+key+" "+id)
	}
	if _, err := h.steward().SetBudget(t.Context(), &curatorv1.SetBudgetRequest{Dataset: "pbc", Budget: &curatorv1.Budget{Epsilon: 4, Delta: 1e-5}, Reason: "more"}); err != nil {
		t.Error(err)
	}
	h.logged("a budget", &next, "stella: sets the budget to epsilon 4, delta 1e-05")
	if _, err := h.steward().SetShare(t.Context(), &curatorv1.SetShareRequest{Dataset: "pbc", Analyst: "ann", Share: &curatorv1.Budget{Epsilon: 2, Delta: 1e-6}}); err != nil {
		t.Error(err)
	}
	h.logged("a share", &next, "stella: sets the share of ann to epsilon 2, delta 1e-06")
	if _, err := h.steward().ClearChecks(t.Context(), &curatorv1.ClearChecksRequest{Dataset: "pbc"}); err != nil {
		t.Error(err)
	}
	h.logged("a clear", &next, "stella: clears the failed checks")
}

// Signing in and out of the pages, by whom it is allowed and by whom not, forms of another site,
// and what is read there.
func TestPagesStandInTheLog(t *testing.T) {
	h := opened(t, "")
	id := h.ask("ann", oneKey, wish(0.1))
	h.end("ann", id)
	next := int64(0)
	h.since(&next)
	b := h.browser()
	if status, _, _ := b.get("/"); status != http.StatusUnauthorized {
		t.Errorf("%d", status)
	}
	h.logged("a page without a session", &next)
	if status, _ := b.post("/signin", url.Values{"token": {"discreet_x"}}, nil); status != http.StatusUnauthorized {
		t.Errorf("%d", status)
	}
	h.logged("a wrong token", &next, "(nobody): refused: sign-in with a token")
	b.signIn("ann")
	h.logged("a sign-in", &next, "ann: signs in with a token")
	for page, want := range map[string][]string{
		"/asks/" + id + "/report":       {"ann: reads the release " + id},
		"/datasets/pbc/notices":         {"ann: refused: ListNotices"},
		"/datasets/pbc/audit":           {"ann: refused: ListAudit"},
		"/datasets/none":                {"ann: refused: GetDataset"},
		"/asks/" + id:                   nil,
		"/":                             nil,
		"/datasets/pbc":                 nil,
		"/asks/" + oneKey + "/report":   {"ann: refused: GetRelease"},
		"/asks/" + id + "/release.json": nil, // the same person, the same minute
	} {
		if page == "/asks/"+id+"/release.json" {
			continue
		}
		b.get(page)
		h.logged(page, &next, want...)
	}
	if status, _, _ := b.get("/asks/" + id + "/release.json"); status != http.StatusOK {
		t.Errorf("%d", status)
	}
	h.logged("the release again", &next)
	b.post("/asks/"+id+"/verify", nil, nil)
	h.logged("verified", &next, "ann: verifies the release "+id)
	if status, _ := b.post("/datasets/pbc/ask", url.Values{}, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); status != http.StatusForbidden {
		t.Errorf("%d", status)
	}
	h.logged("another site's form", &next, "(nobody): refused: a form of another site")
	u, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	session := b.http.Jar.Cookies(u)
	b.post("/signout", nil, nil)
	h.logged("a sign-out", &next, "ann: signs out")
	b.http.Jar.SetCookies(u, session)
	b.get("/")
	h.logged("a session that is over", &next, "(nobody): refused: a session that is over or was never begun")
	b.post("/signout", nil, nil)
	h.logged("out again", &next)
}

// Where the log cannot be written nothing is answered, read or changed that has to stand there,
// and everything else goes on.
func TestWithoutTheLogNothingIsAnswered(t *testing.T) {
	h := opened(t, "")
	id := h.ask("ann", oneKey, wish(0.1))
	h.end("ann", id)
	b, other := h.browser().signIn("ann"), h.browser()
	h.set(`CREATE TRIGGER stop BEFORE INSERT ON curator_audit BEGIN SELECT RAISE(ABORT, 'stop'); END`)
	const curator, steward = "/discreet.curator.v1.CuratorService/", "/discreet.curator.v1.StewardService/"
	ofAsk, ofTrial := fmt.Sprintf(`{"id":%q}`, id), `{"dataset":"pbc"}`
	for what, r := range map[string]struct {
		token, call, body string
		want              int
	}{
		"no token":          {"x", curator + "GetBudget", ofTrial, 503},
		"another role":      {h.tokens["ann"], steward + "ListNotices", ofTrial, 503},
		"another's ask":     {h.tokens["amy"], curator + "GetAsk", ofAsk, 503},
		"no dataset":        {h.tokens["amy"], curator + "GetDataset", `{"dataset":"x"}`, 503},
		"a release":         {h.tokens["ann"], curator + "GetRelease", ofAsk, 503},
		"a verification":    {h.tokens["ann"], curator + "VerifyRelease", ofAsk, 503},
		"the notices":       {h.tokens["stella"], steward + "ListNotices", ofTrial, 200},
		"a share":           {h.tokens["stella"], steward + "SetShare", `{"dataset":"pbc","analyst":"ann","share":{"epsilon":1,"delta":1e-6}}`, 503},
		"a budget":          {h.tokens["stella"], steward + "SetBudget", `{"dataset":"pbc","budget":{"epsilon":9,"delta":1e-6},"reason":"x"}`, 503},
		"a clear":           {h.tokens["stella"], steward + "ClearChecks", ofTrial, 503},
		"an ask":            {h.tokens["ann"], curator + "Ask", fmt.Sprintf(`{"dataset":"pbc","question":%q,"key":"%s-2"}`, wish(0.1), oneKey), 503},
		"the budget":        {h.tokens["ann"], curator + "GetBudget", ofTrial, 200},
		"a plan":            {h.tokens["ann"], curator + "Plan", fmt.Sprintf(`{"dataset":"pbc","question":%q}`, wish(0.1)), 200},
		"the log":           {h.tokens["arthur"], steward + "ListAudit", ofTrial, 200},
		"one's own ask":     {h.tokens["ann"], curator + "GetAsk", ofAsk, 200},
		"the list of those": {h.tokens["ann"], curator + "ListDatasets", "{}", 200},
	} {
		status, text := h.post(r.token, r.call, r.body)
		if status != r.want || status == 503 && (strings.Contains(text, "ledger") || strings.Contains(text, "stop")) {
			t.Errorf("%s: %d %s; want %d", what, status, text, r.want)
		}
	}
	if status, _ := other.post("/signin", url.Values{"token": {h.tokens["amy"]}}, nil); status != 503 {
		t.Errorf("a sign-in: %d", status)
	}
	if status, _ := other.post("/signin", url.Values{"token": {"discreet_x"}}, nil); status != 503 {
		t.Errorf("a wrong token: %d", status)
	}
	if status, _, _ := other.get("/"); status != http.StatusUnauthorized {
		t.Errorf("signed in without a line: %d", status)
	}
	if status, _ := other.post("/signin", nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); status != 503 {
		t.Errorf("another site's form: %d", status)
	}
	if status, text, _ := b.get("/asks/" + id + "/release.json"); status != 503 || strings.Contains(text, "epsilon") {
		t.Errorf("the release: %d %s", status, text)
	}
	if status, _ := b.post("/signout", nil, nil); status != 503 {
		t.Errorf("a sign-out: %d", status)
	}
	// A token that was made meanwhile is good when the log has it, and one revoked is good no more.
	late, err := h.config().CreateToken("ann", "late", time.Hour)
	if err := errors.Join(err, h.config().RevokeToken("amy", "test")); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); ; {
		if status, _ := h.post(h.tokens["amy"], curator+"ListDatasets", "{}"); status == http.StatusServiceUnavailable {
			break
		}
		if time.Now().After(until) {
			t.Fatal("a change of the tokens is in force, and the log does not have it")
		}
	}
	if status, _ := h.post(late, curator+"ListDatasets", "{}"); status != http.StatusServiceUnavailable {
		t.Errorf("a token of which the log has no line: %d", status)
	}
	h.set(`DROP TRIGGER stop`)
	for until := time.Now().Add(10 * time.Second); ; {
		if status, _ := h.post(late, curator+"ListDatasets", "{}"); status == http.StatusOK {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the token is not good when the log has it")
		}
	}
	budget, err := h.client("stella").GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
	if err != nil || budget.GetBudget().GetEpsilon() != 3 {
		t.Errorf("the budget was changed: %v, %v", budget, err)
	}
	lines := h.since(new(int64))
	for _, l := range lines {
		if strings.Contains(l, "reads") || strings.Contains(l, "sets") || strings.Contains(l, "refused") {
			t.Errorf("the log has %q", l)
		}
	}
	for _, want := range []string{`(tokens): token "late" of ann was made`, `(tokens): token "test" of amy was revoked`} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("the log is %q and lacks %q", lines, want)
		}
	}
}

// What the log has of tokens it has once, however often the service starts.
func TestTokensStandInTheLogOnce(t *testing.T) {
	h := opened(t, "")
	next := int64(0)
	if got := h.since(&next); len(got) != 4 {
		t.Errorf("the log has %q; want the four tokens", got)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	if err := h.config().RevokeToken("amy", "test"); err != nil {
		t.Fatal(err)
	}
	h.open()
	h.logged("after a start", &next, `(tokens): token "test" of amy was revoked`)
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.open()
	h.logged("after another", &next)
}

// A flood of 200 is one line, and its number is written at the stop.
func TestAFloodIsTwoLines(t *testing.T) {
	h := opened(t, "")
	next := int64(0)
	h.since(&next)
	for range 200 {
		if _, err := h.client("amy").GetDataset(t.Context(), &curatorv1.GetDatasetRequest{Dataset: "none"}); code(err) != connect.CodeNotFound {
			t.Fatal(err)
		}
	}
	h.logged("a flood", &next, "amy: refused: GetDataset")
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.open()
	h.logged("its number", &next, "amy: refused: GetDataset: 199 more within a minute")
}

// Who calls or reads pages too often stands in the log, too, in their datasets.
func TestTooManyStandInTheLog(t *testing.T) {
	h := furnish(t, "")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "calls_per_second: 100000", "calls_per_second: 1", 1))
	h.open()
	b := h.browser().signIn("ann")
	for range 30 {
		b.get("/")
		h.post(h.tokens["amy"], "/discreet.curator.v1.CuratorService/ListDatasets", "{}")
	}
	lines := h.since(new(int64))
	for _, want := range []string{"ann: refused: too many pages", "amy: refused: too many calls"} {
		if !slices.Contains(lines, want) {
			t.Errorf("the log is %q and lacks %q", lines, want)
		}
	}
}
