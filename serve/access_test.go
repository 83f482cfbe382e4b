package serve_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// may says, of each call, who may use it: a for the analyst whose ask it is, o for another
// analyst of the dataset, s for its steward, u for its auditor. It is written down anew
// here, from the table of roles in the documentation.
var may = map[string]string{
	"CuratorService.ListDatasets":  "aosu",
	"CuratorService.GetDataset":    "aosu",
	"CuratorService.Plan":          "aos",
	"CuratorService.Ask":           "ao",
	"CuratorService.GetAsk":        "asu",
	"CuratorService.WatchAsk":      "asu",
	"CuratorService.ListAsks":      "aosu",
	"CuratorService.WithdrawAsk":   "a",
	"CuratorService.GetRelease":    "asu",
	"CuratorService.VerifyRelease": "asu",
	"CuratorService.GetBudget":     "aosu",
	"CuratorService.PutPolicy":     "ao",
	"StewardService.Decide":        "s",
	"StewardService.SetShare":      "s",
	"StewardService.SetBudget":     "s",
	"StewardService.ListNotices":   "s",
	"StewardService.ClearChecks":   "s",
	"StewardService.ListAudit":     "su",
}

// post makes a call with JSON, as curl would.
func (h *house) post(token, call, body string) (int, string) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url+call, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
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

// filled is a request of a call for a dataset and an ask, whatever else it needs.
func filled(m protoreflect.MethodDescriptor, dataset, id string) proto.Message {
	r := dynamicpb.NewMessage(m.Input())
	for name, value := range map[protoreflect.Name]any{
		"dataset": dataset, "id": id, "question": wish(0.1), "key": oneKey + "-matrix", "name": "p.json", "content": []byte("{}"), "reason": "why", "analyst": "ann",
	} {
		if f := m.Input().Fields().ByName(name); f != nil {
			r.Set(f, protoreflect.ValueOf(value))
		}
	}
	return r
}

// A field that a call does not know is refused by its name, in every form of JSON: it
// may be a misspelt bound. Nothing is asked by such a call.
func TestUnknownFieldsOfACallAreRefused(t *testing.T) {
	h := furnish(t, "")
	h.open()
	const service = "/discreet.curator.v1.CuratorService/"
	for what, body := range map[string]string{
		"Ask":        fmt.Sprintf(`{"dataset":"pbc","key":%q,"question":%q,"largestEpsilon":0.1}`, oneKey, wish(0.1)),
		"Plan":       fmt.Sprintf(`{"dataset":"pbc","question":%q,"quesiton":""}`, wish(0.1)),
		"GetDataset": `{"dataset":"pbc","dataset ":"pbc"}`,
	} {
		status, text := h.post(h.tokens["ann"], service+what, body)
		if status != http.StatusBadRequest || !strings.Contains(text, "invalid_argument") || !strings.Contains(text, "unknown field") || !strings.Contains(text, "remove it or correct its name") {
			t.Errorf("%s: %d %s; want 400 and the field", what, status, text)
		}
	}
	if status, text := h.post(h.tokens["ann"], service+"ListAsks", `{"dataset":"pbc"}`); status != http.StatusOK || strings.Contains(text, "key") {
		t.Errorf("%d %s; want no ask", status, text)
	}
	const query = "GetDataset?connect=v1&encoding=json&message="
	for message, want := range map[string]int{`{"dataset":"pbc"}`: http.StatusOK, `{"dataset":"pbc","x":1}`: http.StatusBadRequest} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+service+query+url.QueryEscape(message), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+h.tokens["ann"])
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("GET of %s: %d; want %d", message, answer.StatusCode, want)
		}
	}
}

// Every call of every service, by everybody, on a dataset of theirs and on one that is not:
// a call that the table does not list fails the test.
func TestWhoMayDoWhat(t *testing.T) {
	h := furnish(t, "")
	h.write("serve.yaml", fmt.Sprintf(configuration, "")+"  other:\n    config: other.yaml\n    budget: {epsilon: 3, delta: 1e-5}\n    people: {oscar: steward}\n")
	text := strings.ReplaceAll(h.read("pbc.yaml"), "dataset: pbc", "dataset: other")
	h.write("other.yaml", text)
	h.open()
	id := h.ask("ann", oneKey, wish(0.1))
	h.end("ann", id)
	people := map[string]string{"a": h.tokens["ann"], "o": h.tokens["amy"], "s": h.tokens["stella"], "u": h.tokens["arthur"]}
	services := curatorv1.File_discreet_curator_v1_curator_proto.Services()
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			name := fmt.Sprintf("%s.%s", services.Get(i).Name(), m.Name())
			allowed, listed := may[name]
			if !listed {
				t.Errorf("%s is not in the table", name)
			}
			call := fmt.Sprintf("/%s/%s", services.Get(i).FullName(), m.Name())
			for who, token := range people {
				status := h.status(token, call, filled(m, "pbc", id), m.IsStreamingServer())
				refused := status == http.StatusForbidden || status == http.StatusNotFound
				if refused == strings.Contains(allowed, who) {
					t.Errorf("%s by %s: status %d; the table has %q", name, who, status, allowed)
				}
				if want := notYours(who, m); refused && !m.IsStreamingServer() && status != want {
					t.Errorf("%s by %s: status %d; want %d", name, who, status, want)
				}
				if status >= 500 && status != http.StatusNotImplemented {
					t.Errorf("%s by %s: status %d", name, who, status)
				}
				if name == "CuratorService.ListDatasets" {
					continue
				}
				if status := h.status(token, call, filled(m, "other", "0193-none"), m.IsStreamingServer()); status != http.StatusNotFound {
					t.Errorf("%s by %s on another's dataset: status %d; want 404", name, who, status)
				}
			}
			for _, token := range []string{"", "x", "discreet_" + strings.Repeat("A", 43), h.tokens["ann"] + "A"} {
				if status, _ := h.post(token, call, "{}"); status != http.StatusUnauthorized {
					t.Errorf("%s by nobody: status %d; want 401", name, status)
				}
			}
		}
	}
}

// notYours is the status of a call that is refused: what is another analyst's does not exist, and
// what a role does not allow is forbidden.
func notYours(who string, m protoreflect.MethodDescriptor) int {
	if who == "o" && m.Input().Fields().ByName("id") != nil {
		return http.StatusNotFound
	}
	return http.StatusForbidden
}

// status makes a call and returns its HTTP status; of a stream, that of its end.
func (h *house) status(token, call string, m proto.Message, stream bool) int {
	h.t.Helper()
	if stream {
		s, err := curatorv1.NewCuratorServiceClient(&http.Client{Transport: bearer(token)}, h.url).WatchAsk(h.t.Context(), &curatorv1.WatchAskRequest{Id: idOf(m)})
		if err == nil {
			for s.Receive() {
			}
			err = s.Err()
		}
		switch code(err) {
		case 0:
			return http.StatusOK
		case connect.CodeNotFound:
			return http.StatusNotFound
		}
		return http.StatusForbidden
	}
	body, err := protojson.Marshal(m)
	if err != nil {
		h.t.Fatal(err)
	}
	status, _ := h.post(token, call, string(body))
	return status
}

func idOf(m proto.Message) string {
	f := m.ProtoReflect().Descriptor().Fields().ByName("id")
	return m.ProtoReflect().Get(f).String()
}

// None of these requests gets data, a state of another, or an error of the server's own.
func TestHostileRequests(t *testing.T) {
	h := opened(t, "")
	token := h.tokens["ann"]
	ask := func(question string) string {
		return fmt.Sprintf(`{"dataset": "pbc", "question": %q, "key": "%s-x"}`, question, oneKey)
	}
	const curator = "/discreet.curator.v1.CuratorService/"
	for name, r := range map[string]struct{ call, body string }{
		"no JSON":             {"Ask", "{"},
		"unknown field":       {"Ask", `{"dataset": "pbc", "rows": true}`},
		"another's place":     {"Plan", ask("data: {path: /etc/passwd}\n" + wish(0.1))},
		"own output":          {"Plan", ask("output: {dir: /tmp}\n" + wish(0.1))},
		"own ledger":          {"Plan", ask("ledger: {path: /tmp/x.db}\n" + wish(0.1))},
		"own number":          {"Plan", ask("problem: {persons: 1}\n" + wish(0.1))},
		"no privacy":          {"Plan", ask("target: {kind: logged}\nmethod: {name: dp-is}\nprivacy: none\n")},
		"a file of the host":  {"Plan", ask("target: {kind: tree, path: /etc/passwd}\nmethod: {name: dp-wis}\nprivacy: {epsilon: .1, delta: 1e-6}")},
		"a file below":        {"Plan", ask("target: {kind: tree, path: ../../serve.yaml}\nmethod: {name: dp-wis}\nprivacy: {epsilon: .1, delta: 1e-6}")},
		"a policy of nobody":  {"Plan", ask("target: {kind: tree, path: mild.json}\nmethod: {name: dp-wis}\nprivacy: {epsilon: .1, delta: 1e-6}")},
		"another method":      {"Ask", ask(strings.Replace(wish(0.1), "dp-wis", "dp-fqe", 1))},
		"above the steward's": {"Ask", ask(wish(2))},
		"epsilon of nobody":   {"Ask", ask(wish(-1))},
		"epsilon no number":   {"Ask", ask(strings.Replace(wish(1), "epsilon: 1", "epsilon: .nan", 1))},
		"epsilon infinite":    {"Ask", ask(strings.Replace(wish(1), "epsilon: 1", "epsilon: .inf", 1))},
		"two documents":       {"Ask", ask(wish(0.1) + "---\n" + wish(0.1))},
		"aliases":             {"Plan", ask("a: &a [x]\nb: &b [*a, *a]\n" + wish(0.1))},
		"a key too short":     {"Ask", fmt.Sprintf(`{"dataset": "pbc", "question": %q, "key": "x"}`, wish(0.1))},
		"a purpose of lines":  {"Ask", fmt.Sprintf(`{"dataset": "pbc", "question": %q, "key": %q, "purpose": "a\nb"}`, wish(0.1), oneKey)},
		"a long question":     {"Plan", ask("#" + strings.Repeat("x", 70<<10))},
		"a long request":      {"PutPolicy", `{"dataset": "pbc", "name": "p", "content": "` + strings.Repeat("A", 8<<20) + `"}`},
		"a path for a name":   {"PutPolicy", `{"dataset": "pbc", "name": "../../x", "content": "AA=="}`},
		"a policy of nothing": {"PutPolicy", `{"dataset": "pbc", "name": "p.json"}`},
		"a page before all":   {"ListAsks", `{"dataset": "pbc", "page_token": "-1"}`},
		"a page of words":     {"ListAsks", `{"dataset": "pbc", "page_token": "' OR 1=1"}`},
		"a page too long":     {"ListAsks", `{"dataset": "pbc", "page_size": 100000}`},
		"another dataset":     {"Ask", strings.Replace(ask(wish(0.1)), "pbc", "pbc2", 1)},
		"a statement":         {"GetAsk", `{"id": "' OR '1'='1"}`},
		"a long id":           {"GetAsk", `{"id": "` + strings.Repeat("x", 10000) + `"}`},
	} {
		status, text := h.post(token, curator+r.call, r.body)
		if status < 400 || status >= 500 {
			t.Errorf("%s: status %d: %s", name, status, text)
		}
		for _, secret := range []string{h.dir, "trajectories", "root:", "budget.db"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: the answer tells %q: %s", name, secret, text)
			}
		}
	}
	if status, _ := h.post(token, "/../../etc/passwd", "{}"); status != http.StatusNotFound {
		t.Errorf("a path of the host: status %d", status)
	}
	var log bytes.Buffer
	log.WriteString(h.read("curator.db"))
	if strings.Contains(log.String(), token) {
		t.Error("the store holds a token")
	}
}
