//go:build slow

package serve_test

import (
	"bufio"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service/alerttest"
	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

var kills = flag.Int("kills", 25, "processes that TestKilledAtRandomMoments kills")

// The configuration of a process that serves, and how long it keeps an ask that it is
// not heard of.
const (
	serveVariable = "DISCREET_TEST_SERVE"
	holdVariable  = "DISCREET_TEST_HOLD"
)

// TestServeUntilKilled is the process that is killed; as a test of its own it has nothing to do.
func TestServeUntilKilled(t *testing.T) {
	if config := os.Getenv(serveVariable); config != "" {
		if err := serveHere(config); err != nil {
			t.Fatal(err)
		}
	}
}

func serveHere(config string) error {
	ctx := context.Background()
	c, err := serve.Load(config)
	if err != nil {
		return err
	}
	s, err := serve.Open(ctx, c)
	if err != nil {
		return err
	}
	if text := os.Getenv(holdVariable); text != "" {
		hold, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		s.Hold(hold)
	} else {
		s.Hurry()
	}
	address, err := s.Listen(ctx)
	if err != nil {
		return err
	}
	fmt.Println(address)
	return s.Run(ctx)
}

// starts starts the service of a house in a process of its own, and reports whether it serves.
func (h *house) starts() (cmd *exec.Cmd, serves bool) {
	h.t.Helper()
	cmd = exec.CommandContext(h.t.Context(), os.Args[0], "-test.run=^TestServeUntilKilled$")
	cmd.Env = append(os.Environ(), serveVariable+"="+h.dir+"/serve.yaml")
	log, err := os.OpenFile(filepath.Join(h.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		h.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "127.0.0.1:") {
		_ = cmd.Wait()
		return cmd, false
	}
	h.at("http://" + strings.TrimSpace(line))
	return cmd, true
}

// process is starts, of a service that has to.
func (h *house) process() *exec.Cmd {
	h.t.Helper()
	cmd, serves := h.starts()
	if !serves {
		text := h.read("log")
		h.t.Fatalf("the service does not start: %s", text[max(0, len(text)-4000):])
	}
	return cmd
}

// kept moves what there is of a ledger and its journals away, and back.
func (h *house) kept(names ...string) (back func()) {
	h.t.Helper()
	var all []func()
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(h.dir, name)); err == nil {
			all = append(all, h.away(name))
		} else {
			all = append(all, func() { _ = os.RemoveAll(filepath.Join(h.dir, name)) })
		}
	}
	return func() {
		for _, f := range all {
			f()
		}
	}
}

var ledgerFiles = []string{"budget.db", "budget.db-wal", "budget.db-shm"}

// stops are faults that stop the dataset, made before a service starts or while it runs.
var stops = map[string]struct {
	running bool
	make    func(*house) (mend func())
}{
	"the ledger is missing": {false, func(h *house) func() { return h.kept(ledgerFiles...) }},
	"an older ledger": {false, func(h *house) func() {
		back := h.kept(ledgerFiles...)
		h.write("budget.db", h.read("budget.db.older"))
		return back
	}},
	"the witness is missing": {false, func(h *house) func() { return h.away("heads.ndjson") }},
	"the witness is another": {false, func(h *house) func() {
		back := h.away("heads.ndjson")
		h.write("heads.ndjson", "{}\n")
		return back
	}},
	"the ledger is moved away":    {true, func(h *house) func() { return h.kept(ledgerFiles...) }},
	"the witness is moved away":   {true, func(h *house) func() { return h.away("heads.ndjson") }},
	"the policies are moved away": {true, func(h *house) func() { return h.away("policies") }},
}

// A service is killed at random moments while it answers, with Prometheus watching; now and then there
// is a fault, too, that stops the dataset, at rest or under the running service: each time an alert
// fires, and none does when the fault is mended. In the end every ask is released or pending, each
// charge of the ledger is that of one ask, no ask was charged twice, and no check counts: one that was
// cut off went on. Three would have locked the dataset. Every notice was told outside, none twice
// without saying so, and each backup that the service made is whole.
func TestKilledAtRandomMoments(t *testing.T) {
	w := hooked(t)
	h := furnish(t, "asks_per_hour: 1000000\n    witness: heads.ndjson").notifies(fmt.Sprintf("webhook: {url: %q}", w.URL))
	if err := os.Mkdir(filepath.Join(h.dir, "backups"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "budget: {epsilon: 3, delta: 1e-5}", "budget: {epsilon: 50, delta: 1e-5}", 1)+"backup: {path: backups, every: 20s, keep: 3}\n")
	c := h.config()
	for _, person := range []string{"ann", "stella"} {
		token, err := c.CreateToken(person, "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		h.tokens[person] = token
	}
	watch := alerttest.Start(t, alertRules).Watch(scraping, 50*time.Millisecond, func() []alerttest.Target {
		h.mu.Lock()
		defer h.mu.Unlock()
		return []alerttest.Target{h.target()}
	})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	ids := map[string]bool{}
	faults := map[string]int{}
	longest := 0
	for i := range *kills {
		if i%10 == 5 && i > 10 {
			names := slices.Sorted(maps.Keys(stops))
			name := names[random.IntN(len(names))]
			faults[name]++
			longest = max(longest, h.stopped(watch, name))
		}
		p := h.process()
		moment := time.Duration(random.IntN(400)) * time.Millisecond
		die := time.AfterFunc(moment, func() { _ = p.Process.Kill() })
		for j := range 3 {
			key := fmt.Sprintf("%s-%d-%d", oneKey, i, j)
			r, err := h.client("ann").Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.01), Key: key})
			if err != nil {
				break // it was killed
			}
			ids[r.GetAsk().GetId()] = true
		}
		_ = p.Wait()
		die.Stop()
		if i == 4 {
			h.write("budget.db.older", h.read("budget.db"))
		}
	}
	p := h.process()
	defer func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	}()
	if n, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"}); err != nil || n.GetFailedChecks() > 1 {
		t.Errorf("%d checks count as failed, %v; want none but one that runs", n.GetFailedChecks(), err)
	}
	released, pending := int64(0), int64(0)
	page := ""
	for {
		r, err := h.client("ann").ListAsks(t.Context(), &curatorv1.ListAsksRequest{Dataset: "pbc", PageSize: 100, PageToken: page})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range r.GetAsks() {
			delete(ids, a.GetId())
			switch a := h.end("ann", a.GetId()); a.GetState() {
			case curatorv1.State_STATE_RELEASED:
				released++
				v, err := h.client("ann").VerifyRelease(t.Context(), &curatorv1.VerifyReleaseRequest{Id: a.GetId()})
				if err != nil || !v.GetHolds() {
					t.Errorf("%v, %v", v, err)
				}
			case curatorv1.State_STATE_PENDING:
				pending++
			default:
				t.Errorf("ended as %v", a)
			}
		}
		if page = r.GetNextPageToken(); page == "" {
			break
		}
	}
	if len(ids) > 0 {
		t.Errorf("%d asks that were acknowledged are gone", len(ids))
	}
	all, left := h.charges()
	scrapes, began := watch.Began()
	t.Logf("%d kills: %d released, %d pending; %d scrapes, faults %v, each with an alert after at most %d scrapes, alerts %v; %d messages", *kills, released, pending, scrapes, faults, longest, began, len(w.of()))
	if all != released+pending || left != pending {
		t.Errorf("%d charges, %d without a release; %d asks released, %d pending", all, left, released, pending)
	}
	if n, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"}); err != nil || n.GetFailedChecks() != 0 {
		t.Errorf("%d checks count as failed, %v; want none", n.GetFailedChecks(), err)
	}
	if released == 0 {
		t.Error("nothing was released: the test killed too early")
	}
	watch.Until("all is well", time.Minute, func(firing []string) bool { return len(firing) == 0 })
	h.allTold(w)
	for _, name := range h.backedUp(filepath.Join(h.dir, "backups")) {
		if !strings.HasPrefix(name, ".") { // what is being written
			h.restored(filepath.Join(h.dir, "backups", name))
		}
	}
}

// stopped makes a fault that stops the dataset, sees that it does, waits for an alert, and mends it; it
// returns after how many scrapes the alert fired.
func (h *house) stopped(watch *alerttest.Watch, name string) (scrapes int) {
	h.t.Helper()
	fault := stops[name]
	works := func(p *exec.Cmd) bool {
		ctx, cancel := context.WithTimeout(h.t.Context(), 20*time.Second)
		defer cancel()
		before, _ := h.charges()
		_, err := h.client("ann").Ask(ctx, &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.01), Key: fmt.Sprintf("%s-p%d", oneKey, time.Now().UnixNano())})
		for err == nil && ctx.Err() == nil {
			if now, _ := h.charges(); now > before {
				return true
			}
			time.Sleep(20 * time.Millisecond)
		}
		return false
	}
	var mend func()
	var p *exec.Cmd
	serves := true
	if fault.running {
		p = h.process()
		mend = fault.make(h)
	} else {
		mend = fault.make(h)
		p, serves = h.starts()
	}
	scrapes = watch.Until(name, time.Minute, func(firing []string) bool { return len(firing) > 0 })
	if serves {
		if _, err := h.client("ann").Ask(h.t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.01), Key: fmt.Sprintf("%s-s%d", oneKey, time.Now().UnixNano())}); err == nil && !strings.Contains(name, "witness") && !strings.Contains(name, "policies") {
			h.t.Errorf("%s: an ask is taken in", name)
		}
		_ = p.Process.Kill()
		_ = p.Wait()
	}
	mend()
	p = h.process()
	watch.Until(name+" is mended", time.Minute, func(firing []string) bool { return len(firing) == 0 })
	if !works(p) {
		h.t.Errorf("%s is mended, and nothing is charged", name)
	}
	_ = p.Process.Kill()
	_ = p.Wait()
	return scrapes
}

// allTold waits until the webhook was told of every notice; no message came twice without saying so.
func (h *house) allTold(w *hook) {
	h.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "curator.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	soon(h.t, "the last notice is told", func() bool {
		return count(h.t.(*testing.T), db, `SELECT (SELECT max(seq) FROM curator_notice) = (SELECT seq FROM curator_delivery)`) == 1
	})
	first := map[string]int{}
	for _, m := range w.of() {
		if !m.Again {
			if first[m.ID]++; first[m.ID] > 1 {
				h.t.Errorf("message %s came twice, and did not say so", m.ID)
			}
		}
	}
	if len(first) == 0 {
		h.t.Error("nothing was told")
	}
}
