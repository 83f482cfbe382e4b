package serve_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

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

// A column of groups that the data do not have is the steward's to mend before anybody asks. Data
// that cannot be read are no reason not to start.
func TestGroupColumnsAreThoseOfTheData(t *testing.T) {
	h := furnish(t, "group_columns: [sex_f, sxe]")
	if s, err := serve.Open(t.Context(), h.config()); err == nil {
		t.Fatal("a service with a column that is not there", s.Close())
	} else if !errors.Is(err, serve.ErrConfig) || !strings.Contains(err.Error(), "dataset pbc: ") || !strings.Contains(err.Error(), "group_columns: ") || !strings.Contains(err.Error(), ": sxe: the file has no such observation column") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "budget.db")); err == nil {
		t.Error("a ledger was begun")
	}
	h.write("serve.yaml", fmt.Sprintf(configuration, "group_columns: [sex_f]"))
	h.open()
	bySex := "target: {kind: constant, action: 1}\nby: {column: obs_sex_f, values: [0, 1], group: may_change}\nmethod: {name: dp-wis, max_weight: 2}\nprivacy: {epsilon: 0.5, delta: 1e-6}\n"
	if a := h.end("ann", h.ask("ann", oneKey, bySex)); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Errorf("by sex: %v", a)
	}
	if d, err := h.client("ann").GetDataset(t.Context(), &curatorv1.GetDatasetRequest{Dataset: "pbc"}); err != nil || !strings.Contains(d.GetDataset().GetFacts(), `"group_columns":["sex_f"]`) {
		t.Errorf("%v, %v: which columns questions may name is not told", d.GetDataset().GetFacts(), err)
	}

	h = furnish(t, "group_columns: [sxe]")
	h.write("pbc.yaml", fmt.Sprintf(part, filepath.Join(h.dir, "nowhere.csv"), 312))
	h.open()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
