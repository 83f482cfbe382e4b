package serve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp/ledger"
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
				if !strings.Contains(a.GetReason(), "would fit") && !strings.Contains(a.GetReason(), "hardly anything like it would fit") {
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
