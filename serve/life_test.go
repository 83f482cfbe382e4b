package serve_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

func (h *house) read(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// charges counts the charges of the ledger and those without a release.
func (h *house) charges() (all, pending int64) {
	h.t.Helper()
	l, err := ledger.Open(h.t.Context(), filepath.Join(h.dir, "budget.db"), "pbc")
	if err != nil {
		h.t.Fatal(err)
	}
	defer l.Close()
	if err := l.Verify(h.t.Context()); err != nil {
		h.t.Error(err)
	}
	state, err := l.State(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return state.Charges, state.PendingCount
}

func (h *house) state(person, id string) *curatorv1.AskState {
	h.t.Helper()
	r, err := h.client(person).GetAsk(h.t.Context(), &curatorv1.GetAskRequest{Id: id})
	if err != nil {
		h.t.Fatal(err)
	}
	return r.GetAsk()
}

// An ask above the steward's epsilon waits, and is answered, refused or withdrawn.
func TestAStewardDecides(t *testing.T) {
	h := opened(t, "approval: above 0.2")
	small := h.ask("ann", oneKey+"-1", wish(0.2))
	if a := h.end("ann", small); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Errorf("a small ask: %v", a)
	}
	yes, no, back := h.ask("ann", oneKey+"-2", wish(0.3)), h.ask("ann", oneKey+"-3", wish(0.3)), h.ask("ann", oneKey+"-4", wish(0.3))
	for _, id := range []string{yes, no, back} {
		if a := h.state("ann", id); a.GetState() != curatorv1.State_STATE_WAITING {
			t.Errorf("%v; want it waiting", a)
		}
	}
	decide := func(id string, approve bool, reason string) error {
		_, err := h.steward().Decide(t.Context(), &curatorv1.DecideRequest{Id: id, Approve: approve, Reason: reason})
		return err
	}
	if err := decide(no, false, ""); code(err) != connect.CodeInvalidArgument {
		t.Errorf("a refusal without a reason: %v", err)
	}
	for _, err := range []error{decide(no, false, "out of scope"), decide(yes, true, "")} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := decide(no, true, ""); code(err) != connect.CodeFailedPrecondition {
		t.Errorf("decided twice: %v", err)
	}
	if _, err := h.client("ann").WithdrawAsk(t.Context(), &curatorv1.WithdrawAskRequest{Id: back}); err != nil {
		t.Error(err)
	}
	if a := h.end("ann", yes); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Errorf("approved: %v", a)
	}
	if a := h.state("ann", no); a.GetState() != curatorv1.State_STATE_REFUSED || !strings.Contains(a.GetReason(), "out of scope") {
		t.Errorf("refused: %v", a)
	}
	if a := h.state("ann", back); a.GetState() != curatorv1.State_STATE_WITHDRAWN {
		t.Errorf("withdrawn: %v", a)
	}
	if all, pending := h.charges(); all != 2 || pending != 0 {
		t.Errorf("%d charges, %d pending; want 2, 0", all, pending)
	}
}

// What is wrong with the data is told to the steward, with the file and the row; the
// analyst learns that a check failed, which counts, and after three no ask is run until
// the steward has looked: it waits, and goes on then.
func TestWhatIsWrongWithTheDataIsTheStewards(t *testing.T) {
	h := furnish(t, "")
	data := filepath.Join(h.dir, "data.csv")
	h.write("data.csv", strings.Replace(readFile(t, trial), "\n", "\nsecret-patient,not-a-number,", 1))
	h.write("pbc.yaml", strings.Replace(fmt.Sprintf(part, data, 312), "data:\n", "data:\n  on_violation: reject\n", 1))
	h.open()
	for i := range 3 {
		a := h.end("ann", h.ask("ann", fmt.Sprintf("%s-%d", oneKey, i), wish(0.5)))
		if a.GetState() != curatorv1.State_STATE_REFUSED || !strings.Contains(a.GetReason(), "nothing was spent") {
			t.Errorf("ask %d: %v", i, a)
		}
		for _, secret := range []string{"secret", "row", "data.csv", h.dir, "number"} {
			if strings.Contains(a.GetReason(), secret) {
				t.Errorf("the analyst is told %q", a.GetReason())
			}
		}
	}
	fourth := h.ask("amy", oneKey+"-4", wish(0.5))
	if p, err := h.client("amy").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: wish(0.5)}); err != nil || !strings.Contains(p.GetRefusal(), "look") {
		t.Errorf("after three the steward has to look: %v, %v", p, err)
	}
	h.untilNoticed(fourth)
	if a := h.state("amy", fourth); a.GetState() != curatorv1.State_STATE_QUEUED {
		t.Errorf("the fourth is %v; want it to wait", a)
	}
	notices, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"})
	if err != nil || len(notices.GetNotices()) < 3 || notices.GetFailedChecks() != 3 || notices.GetMostFailedChecks() != 3 {
		t.Fatalf("%v, %v", notices, err)
	}
	if last := notices.GetNotices()[len(notices.GetNotices())-1].GetText(); !strings.Contains(last, "data.csv") {
		t.Errorf("the steward is told %q", last)
	}
	if r, err := h.steward().ClearChecks(t.Context(), &curatorv1.ClearChecksRequest{Dataset: "pbc"}); err != nil || r.GetCleared() != 3 {
		t.Errorf("%v, %v", r, err)
	}
	if a := h.end("amy", fourth); a.GetState() != curatorv1.State_STATE_REFUSED {
		t.Errorf("cleared, the fourth ended as %v", a)
	}
	if all, _ := h.charges(); all != 0 {
		t.Errorf("%d charges; want none", all)
	}
}

// untilNoticed waits until the steward reads something of an ask.
func (h *house) untilNoticed(ask string) {
	h.t.Helper()
	for {
		list, err := h.steward().ListNotices(h.t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"})
		if err != nil {
			h.t.Fatal(err)
		}
		for _, n := range list.GetNotices() {
			if n.GetAsk() == ask {
				return
			}
		}
	}
}

// Policies over columns that the steward did not declare are refused when they are planned
// and asked, and count no check; over declared ones they are answered.
func TestAColumnThatDoesNotExistLocksNobodyOut(t *testing.T) {
	h := opened(t, "policy_columns: [bili]")
	policies := map[string]string{
		"tree":        `{"schema": "discreet/policy/v1", "kind": "tree", "precision": "float64", "inputs": ["%s"], "nodes": [{"input": "%[1]s", "threshold": 1.5, "left": 1, "right": 2}, {"probs": [0.5, 0.5]}, {"probs": [0.4, 0.6]}]}`,
		"softmax":     `{"schema": "discreet/policy/v1", "kind": "softmax", "inputs": ["%s"], "intercept": [0, 0], "weights": [[0.1], [0.2]], "temperature": 1}`,
		"soft-greedy": `{"schema": "discreet/policy/v1", "kind": "soft-greedy", "inputs": ["%s"], "intercept": [0, 0], "weights": [[0.1], [0.2]], "epsilon": 0.5}`,
	}
	question := func(kind, column string) string {
		name := kind + "-" + column + ".json"
		text := fmt.Sprintf(policies[kind], column)
		where := ""
		if kind == "table" {
			name, text, where = "table.csv", "0.5,0.5\n0.4,0.6\n", ", column: "+column
		}
		if _, err := h.client("ann").PutPolicy(t.Context(), &curatorv1.PutPolicyRequest{Dataset: "pbc", Name: name, Content: []byte(text)}); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("target: {kind: %s, path: %s%s}\nmethod: {name: dp-wis}\nprivacy: {epsilon: 0.2, delta: 1e-6}\n", kind, name, where)
	}
	for i, kind := range []string{"tree", "softmax", "soft-greedy", "table"} {
		asked := question(kind, "obs_nowhere")
		_, planned := h.client("ann").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: asked})
		_, refused := h.client("ann").Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: asked, Key: fmt.Sprintf("%s-%d", oneKey, i)})
		for _, err := range []error{planned, refused} {
			if code(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "nowhere, which is not declared; declared are bili") {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
	for i, kind := range []string{"tree", "softmax", "soft-greedy"} {
		if a := h.end("ann", h.ask("ann", fmt.Sprintf("%s-good-%d", oneKey, i), question(kind, "obs_bili"))); a.GetState() != curatorv1.State_STATE_RELEASED {
			t.Errorf("%s over a declared column ended as %v", kind, a)
		}
	}
	if a := h.end("amy", h.ask("amy", oneKey, wish(0.2))); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Errorf("another's ask ended as %v", a)
	}
	if n, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"}); err != nil || n.GetFailedChecks() != 0 {
		t.Errorf("%d failed checks, %v", n.GetFailedChecks(), err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// 16 clients at once, on a budget with room for few: what is charged is what fits, each ask
// ends, and the others learn what would fit.
func TestClientsRaceForABudget(t *testing.T) {
	h := furnish(t, "asks_per_hour: 1000")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "epsilon: 3,", "epsilon: 1,", 1))
	h.open()
	var released, refused atomic.Int64
	var clients sync.WaitGroup
	for i := range 16 {
		clients.Go(func() {
			r, err := h.client("ann").Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.3), Key: fmt.Sprintf("%s-%d", oneKey, i)})
			if code(err) == connect.CodeResourceExhausted {
				refused.Add(1)
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			switch a := h.end("ann", r.GetAsk().GetId()); a.GetState() {
			case curatorv1.State_STATE_RELEASED:
				released.Add(1)
			case curatorv1.State_STATE_REFUSED:
				refused.Add(1)
				if !strings.Contains(a.GetReason(), "would fit") && !strings.Contains(a.GetReason(), "hardly anything is left") {
					t.Errorf("the refusal is %q", a.GetReason())
				}
			default:
				t.Errorf("ended as %v", a)
			}
		})
	}
	clients.Wait()
	all, pending := h.charges()
	if released.Load() != all || pending != 0 || released.Load()+refused.Load() != 16 || all == 0 || all == 16 {
		t.Errorf("%d released and %d refused of 16; %d charges, %d pending", released.Load(), refused.Load(), all, pending)
	}
}

// With publish every, the end of an ask is told at the next full time, its refusal as well;
// the steward sees it at once.
func TestTheEndIsToldAtAFullTime(t *testing.T) {
	h := opened(t, "publish: every 1s")
	id := h.ask("ann", oneKey, wish(0.5))
	a := h.end("ann", id)
	if a.GetState() != curatorv1.State_STATE_RELEASED || a.GetEnded().AsTime().UnixNano()%int64(time.Second) != 0 {
		t.Errorf("told at %v: %v", a.GetEnded().AsTime(), a)
	}
	if now := time.Now(); now.Before(a.GetEnded().AsTime()) {
		t.Errorf("told at %v, before %v", now, a.GetEnded().AsTime())
	}
}

// With publish every, nothing that an analyst sees before the full time tells a question that
// passed its check from one that failed it, or from one that ran over the budget.
func TestBeforeTheFullTimeNoCheckShows(t *testing.T) {
	see := func(data string) string {
		h := furnish(t, "publish: every 24h")
		h.write("data.csv", data)
		h.write("pbc.yaml", strings.Replace(fmt.Sprintf(part, filepath.Join(h.dir, "data.csv"), 312), "data:\n", "data:\n  on_violation: reject\n", 1))
		h.open()
		var seen []string
		for i := range 4 {
			id := h.ask("ann", fmt.Sprintf("%s-%d", oneKey, i), wish(0.9))
			for ran := false; !ran; { // until the worker is done with it, as the steward sees
				a := h.state("stella", id)
				list, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"})
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range list.GetNotices() {
					ran = ran || n.GetAsk() == id
				}
				ran = ran || a.GetEnded() != nil
			}
			a := h.state("ann", id)
			b, err := h.client("ann").GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
			p, wrong := h.client("ann").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: wish(0.9)})
			_, withdrawn := h.client("ann").WithdrawAsk(t.Context(), &curatorv1.WithdrawAskRequest{Id: id})
			seen = append(seen, fmt.Sprint(a.GetState(), a.GetReason(), a.GetEnded(), b.GetBudget(), b.GetSpent(), err, p.GetFits(), p.GetRefusal(), wrong, code(withdrawn)))
		}
		return strings.Join(seen, "\n")
	}
	good := readFile(t, trial)
	passed, failed := see(good), see(strings.Replace(good, "\n", "\nsecret-patient,not-a-number,", 1))
	if passed != failed {
		t.Errorf("the analyst sees\n%s\nwhere checks passed, and\n%s\nwhere they failed", passed, failed)
	}
}

// The audit log has every change once, in order, and no question.
func TestTheAuditLogTellsWhoDidWhat(t *testing.T) {
	h := opened(t, "")
	id := h.ask("ann", oneKey, wish(0.5))
	h.end("ann", id)
	if _, err := h.steward().SetShare(t.Context(), &curatorv1.SetShareRequest{Dataset: "pbc", Analyst: "ann", Share: &curatorv1.Budget{Epsilon: 2, Delta: 1e-6}}); err != nil {
		t.Error(err)
	}
	r, err := h.steward().ListAudit(t.Context(), &curatorv1.ListAuditRequest{Dataset: "pbc"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range r.GetEntries() {
		if e.GetWho() != "(tokens)" {
			got = append(got, e.GetWho()+": "+e.GetWhat())
		}
	}
	want := "ann: queued, worker: running, worker: released, stella: sets the share of ann to epsilon 2, delta 1e-06"
	if strings.Join(got, ", ") != want {
		t.Errorf("the log is %q; want %q", got, want)
	}
}

// A service that is stopped while asks wait goes on with them when it comes back, and
// answers none twice.
func TestAskedBeforeAStopIsAnsweredAfterIt(t *testing.T) {
	h := opened(t, "")
	var ids []string
	for i := range 4 {
		ids = append(ids, h.ask("ann", fmt.Sprintf("%s-%d", oneKey, i), wish(0.2)))
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.open()
	for _, id := range ids {
		if a := h.end("ann", id); a.GetState() != curatorv1.State_STATE_RELEASED {
			t.Errorf("%v", a)
		}
	}
	if all, pending := h.charges(); all != 4 || pending != 0 {
		t.Errorf("%d charges, %d pending; want 4, 0", all, pending)
	}
}

// A policy that an analyst uploaded is theirs alone, and its name stands for one file.
func TestUploadedPoliciesAreTheAnalystsOwn(t *testing.T) {
	h := opened(t, "")
	policy := readFile(t, "../rl/policy/testdata/exported/tree.json")
	put := func(person, name, content string) error {
		_, err := h.client(person).PutPolicy(t.Context(), &curatorv1.PutPolicyRequest{Dataset: "pbc", Name: name, Content: []byte(content)})
		return err
	}
	if err := put("ann", "mine.json", policy); err != nil {
		t.Fatal(err)
	}
	if err := put("ann", "mine.json", policy); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if err := put("ann", "mine.json", policy+" "); code(err) != connect.CodeAlreadyExists {
		t.Errorf("another under the name: %v", err)
	}
	question := "target: {kind: tree, path: mine.json}\nmethod: {name: dp-wis}\nprivacy: {epsilon: .1, delta: 1e-6}\n"
	_, own := h.client("ann").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: question})
	_, other := h.client("amy").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: question})
	if other == nil || !strings.Contains(other.Error(), "you uploaded no policy") {
		t.Errorf("another's policy: %v", other)
	}
	if own != nil && strings.Contains(own.Error(), "you uploaded no policy") {
		t.Errorf("one's own policy: %v", own)
	}
}

// A configuration says all that is wrong with it at once.
func TestAConfigurationSaysWhatIsWrong(t *testing.T) {
	h := furnish(t, "approval: perhaps")
	h.write("serve.yaml", strings.NewReplacer("stella: steward", "Stella: boss", "store: curator.db", "workers: -1").Replace(h.read("serve.yaml")))
	_, err := serve.Load(filepath.Join(h.dir, "serve.yaml"))
	for _, want := range []string{"store is missing", "workers is -1", `"Stella"`, `"boss"`, "no steward", `approval is "perhaps"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %s: %v", want, err)
		}
	}
	h = furnish(t, "")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "tokens: tokens", "tokens: store", 1))
	if _, err := serve.Load(filepath.Join(h.dir, "serve.yaml")); err == nil || !strings.Contains(err.Error(), "tokens is store, and the store is a SQLite file") {
		t.Errorf("tokens in a SQLite store: %v", err)
	}
	h = furnish(t, "")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "127.0.0.1:0", "0.0.0.0:0", 1))
	if _, err := serve.Open(t.Context(), h.config()); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("outside loopback without TLS: %v", err)
	}
	h.write("serve.yaml", fmt.Sprintf(configuration, ""))
	h.write("pbc.yaml", h.read("pbc.yaml")+"method: {name: dp-is}\n")
	if _, err := serve.Open(t.Context(), h.config()); err == nil || !strings.Contains(err.Error(), "asks a question") {
		t.Errorf("a steward's part that asks: %v", err)
	}
}

// A steward's part that is not the contract in force starts no service.
func TestAnotherContractStartsNoService(t *testing.T) {
	h := opened(t, "")
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.write("pbc.yaml", strings.Replace(h.read("pbc.yaml"), "horizon: 3", "horizon: 2", 1))
	if _, err := serve.Open(t.Context(), h.config()); err == nil || !strings.Contains(err.Error(), "contract") {
		t.Errorf("another horizon: %v", err)
	}
}

// What is wrong with a ledger's witness is the steward's: an analyst reads that the ledger
// takes no charges, on every way to that answer, and nothing of where the witness is.
func TestAWitnessIsNotNamedToAnalysts(t *testing.T) {
	h := opened(t, "approval: steward")
	waiting := h.ask("ann", oneKey, wish(0.4))
	l, err := ledger.Open(t.Context(), filepath.Join(h.dir, "budget.db"), "pbc")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	place := filepath.Join(t.TempDir(), "elsewhere.ndjson")
	if err := l.AddWitness(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	plan, err := h.client("ann").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: wish(0.5)})
	if err != nil || plan.GetFits() || !strings.Contains(plan.GetRefusal(), "nothing was spent") {
		t.Errorf("plan %v, %v", plan, err)
	}
	_, refused := h.client("ann").Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.5), Key: oneKey + "-2"})
	if code(refused) != connect.CodeUnavailable {
		t.Errorf("asked: %v", refused)
	}
	if _, err := h.steward().Decide(t.Context(), &curatorv1.DecideRequest{Id: waiting, Approve: true}); err != nil {
		t.Fatal(err)
	}
	for ended := false; !ended; { // until the worker has met the witness
		list, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range list.GetNotices() {
			ended = ended || strings.Contains(n.GetText(), place)
		}
	}
	a, err := h.client("ann").GetAsk(t.Context(), &curatorv1.GetAskRequest{Id: waiting})
	if err != nil || a.GetAsk().GetState() != curatorv1.State_STATE_QUEUED {
		t.Errorf("the approved ask is %v, %v; want it in the queue", a, err)
	}
	ann := h.browser().signIn("ann")
	_, page, _ := ann.get("/datasets/pbc")
	_, planned := ann.post("/datasets/pbc/plan", url.Values{"question": {wish(0.5)}}, nil)
	if !strings.Contains(planned, "This ask would be refused") {
		t.Errorf("the page of the plan: %s", planned)
	}
	for name, text := range map[string]string{"plan": plan.String(), "ask": refused.Error(), "its state": a.String(), "page": page, "page of the plan": planned} {
		if strings.Contains(text, "elsewhere") || strings.Contains(text, filepath.Dir(place)) {
			t.Errorf("%s names the witness: %s", name, text)
		}
	}
}
