package serve_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// A service is started by a path that is relative to where the steward stands.
func TestStartedFromAnotherDirectory(t *testing.T) {
	h := furnish(t, "")
	t.Chdir(filepath.Dir(h.dir))
	c, err := serve.Load(filepath.Join(filepath.Base(h.dir), "serve.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "budget.db")); err != nil {
		t.Error(err)
	}
}

// set changes the store, as a crash at a chosen moment would.
func (h *house) set(statement string) {
	h.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "curator.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(h.t.Context(), statement); err != nil {
		h.t.Fatal(err)
	}
}

// An ask that was charged and recorded, and whose end the store never learnt, ends with the
// release that the ledger has, even where its question would be read otherwise by now.
func TestACrashBetweenRecordAndEndIsNoRefusal(t *testing.T) {
	h := opened(t, "")
	id := h.ask("ann", oneKey, wish(0.5))
	h.end("ann", id)
	first, err := h.client("ann").GetRelease(t.Context(), &curatorv1.GetReleaseRequest{Id: id})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.set(`UPDATE curator_ask SET state = 'running', ended = 0, told = 0, release = NULL, question = question || '# changed'`)
	h.set(`UPDATE curator_ask SET question = replace(question, '0.5', '0.4')`)
	h.open()
	if a := h.end("ann", id); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Fatalf("ended as %v", a)
	}
	again, err := h.client("ann").GetRelease(t.Context(), &curatorv1.GetReleaseRequest{Id: id})
	if err != nil || string(again.GetRelease()) != string(first.GetRelease()) {
		t.Errorf("another release, or none: %v", err)
	}
	if all, pending := h.charges(); all != 1 || pending != 0 {
		t.Errorf("%d charges, %d pending", all, pending)
	}
}

// A store that is lost, with the ledger kept, forgets who asked; the same key and question
// are the same charge all the same.
func TestALostStoreChargesNothingTwice(t *testing.T) {
	h := opened(t, "")
	h.end("ann", h.ask("ann", oneKey, wish(0.5)))
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"curator.db", "curator.db-wal", "curator.db-shm"} {
		if err := os.Remove(filepath.Join(h.dir, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if s, err := serve.Open(t.Context(), h.config()); err == nil {
		t.Fatal("it starts without the asks of its charges", s.Close())
	}
	if done, err := h.config().Restore(t.Context(), "", "a test", false); err != nil || !strings.Contains(strings.Join(done, "\n"), "1 charges of the ledger have no ask") {
		t.Fatalf("%q, %v", done, err)
	}
	h.open()
	if a := h.end("ann", h.ask("ann", oneKey, wish(0.5))); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Errorf("ended as %v", a)
	}
	if all, pending := h.charges(); all != 1 || pending != 0 {
		t.Errorf("%d charges, %d pending; want 1, 0", all, pending)
	}
}

// Many workers refuse no good ask: the checks of one dataset run one after the other.
func TestManyWorkersRefuseNothing(t *testing.T) {
	h := furnish(t, "")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "store:", "workers: 6\nstore:", 1))
	h.open()
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			if a := h.end("ann", h.ask("ann", fmt.Sprintf("%s-%d", oneKey, i), wish(0.05))); a.GetState() != curatorv1.State_STATE_RELEASED {
				t.Errorf("ended as %v", a)
			}
		})
	}
	clients.Wait()
}

// What is told later cannot be learnt sooner from the metrics, nor by taking the ask back.
func TestMetricsTellNoEnds(t *testing.T) {
	h := opened(t, "publish: every 24h")
	id := h.ask("ann", oneKey, wish(0.5))
	for {
		a, err := h.steward2().GetAsk(t.Context(), &curatorv1.GetAskRequest{Id: id})
		if err != nil {
			t.Fatal(err)
		}
		if a.GetAsk().GetState() == curatorv1.State_STATE_RELEASED {
			break
		}
	}
	if a := h.state("ann", id); a.GetState() != curatorv1.State_STATE_QUEUED {
		t.Errorf("its analyst sees %v", a)
	}
	ann := h.browser().signIn("ann")
	_, text, _ := ann.get("/metrics")
	for _, word := range []string{"released", "refused_total{", "go_", "process_", "running"} {
		if word != "refused_total{" && strings.Contains(text, word) {
			t.Errorf("the metrics tell %s", word)
		}
	}
	_, early := h.client("ann").WithdrawAsk(t.Context(), &curatorv1.WithdrawAskRequest{Id: id})
	queued := h.ask("ann", oneKey+"-2", wish(0.5))
	_, late := h.client("ann").WithdrawAsk(t.Context(), &curatorv1.WithdrawAskRequest{Id: queued})
	if early == nil || late == nil || early.Error() != late.Error() {
		t.Errorf("an ask that has ended: %v; one that has not: %v", early, late)
	}
	if _, err := h.client("ann").GetRelease(t.Context(), &curatorv1.GetReleaseRequest{Id: id}); err == nil {
		t.Error("the release is given out before its time")
	}
	if _, page, _ := ann.get("/asks/" + id); strings.Contains(page, "released") {
		t.Error("the page tells the end")
	}
}

func (h *house) steward2() curatorv1.CuratorServiceClient { return h.client("stella") }

// Rules that look like others are refused.
func TestOddRulesAreRefused(t *testing.T) {
	for _, rule := range []string{
		"largest_delta: .nan", "largest_delta: 1", "approval: above 1/2", "approval: above 0,5", "approval: above 0.5 0.1", "approval: above inf",
		"approval: above nan", "publish: every 0s", "publish: hourly", "close_at: tomorrow", "asks_per_hour: -1",
	} {
		h := furnish(t, rule)
		if _, err := serve.Load(filepath.Join(h.dir, "serve.yaml")); err == nil {
			t.Errorf("%s is taken", rule)
		}
	}
	h := furnish(t, "")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "largest_epsilon: 1", "largest_epsilon: .nan", 1))
	if _, err := serve.Load(filepath.Join(h.dir, "serve.yaml")); err == nil {
		t.Error("largest_epsilon: .nan is taken")
	}
	h = furnish(t, "")
	h.write("serve.yaml", h.read("serve.yaml")+"  again:\n    config: pbc.yaml\n    budget: {epsilon: 3, delta: 1e-5}\n    people: {stella: steward}\n")
	if _, err := serve.Open(t.Context(), h.config()); err == nil || !strings.Contains(err.Error(), "one budget") {
		t.Errorf("two names for one budget: %v", err)
	}
	h = opened(t, "")
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(h.dir, "tokens"), 0o666); err != nil {
		t.Fatal(err)
	}
	if s, err := serve.Open(context.Background(), h.config()); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("tokens that everybody can write: %v", err)
		if s != nil {
			_ = s.Close()
		}
	}
}

// A question that costs memory, or names columns that the steward does not offer, is refused
// before any data are read.
func TestExpensiveAndUnknownQuestions(t *testing.T) {
	h := opened(t, "")
	for _, q := range []string{
		"target: {kind: uniform, actions: 16777216}\nmethod: {name: dp-wis}\nprivacy: {epsilon: .1, delta: 1e-6}",
		"target: {kind: columns, names: [a, b]}\nmethod: {name: dp-wis}\nprivacy: {epsilon: .1, delta: 1e-6}",
		"target: {kind: column}\nmethod: {name: dp-wis}\nprivacy: {epsilon: .1, delta: 1e-6}",
		"targets: [{name: a, kind: column, column: x}, {name: b, kind: logged}]\nmethod: {name: dp-wis}\nprivacy: {epsilon: .1, delta: 1e-6}",
		"target: {kind: logged}\nby: {column: obs_sex, values: [0, 1], group: may_change}\nmethod: {name: dp-is}\nprivacy: {epsilon: .1, delta: 1e-6}",
	} {
		_, err := h.client("ann").Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: q, Key: oneKey})
		if err == nil || !strings.Contains(err.Error(), "invalid_argument") {
			t.Errorf("%s: %v", q, err)
		}
	}
	r, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"})
	if err != nil || r.GetFailedChecks() != 0 {
		t.Errorf("%v, %v", r, err)
	}
}
