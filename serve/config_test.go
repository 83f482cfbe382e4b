package serve_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

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
