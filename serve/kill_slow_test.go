//go:build slow

package serve_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

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
	}
	address, err := s.Listen(ctx)
	if err != nil {
		return err
	}
	fmt.Println(address)
	return s.Run(ctx)
}

// process starts the service of a house in a process of its own.
func (h *house) process() *exec.Cmd {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), os.Args[0], "-test.run=^TestServeUntilKilled$")
	cmd.Env = append(os.Environ(), serveVariable+"="+h.dir+"/serve.yaml")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		h.t.Fatal(err)
	}
	h.url = "http://" + strings.TrimSpace(line)
	return cmd
}

// A service is killed at random moments while it answers. In the end every ask is released
// or pending, each charge of the ledger is that of one ask, no ask was charged twice, and no
// check counts: one that was cut off went on. Three would have locked the dataset.
func TestKilledAtRandomMoments(t *testing.T) {
	h := furnish(t, "asks_per_hour: 1000000")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "budget: {epsilon: 3, delta: 1e-5}", "budget: {epsilon: 50, delta: 1e-5}", 1))
	c := h.config()
	for _, person := range []string{"ann", "stella"} {
		token, err := c.CreateToken(person, "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		h.tokens[person] = token
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	ids := map[string]bool{}
	for i := range *kills {
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
	}
	p := h.process()
	defer func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	}()
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
	t.Logf("%d kills: %d released, %d pending", *kills, released, pending)
	if all != released+pending || left != pending {
		t.Errorf("%d charges, %d without a release; %d asks released, %d pending", all, left, released, pending)
	}
	if n, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"}); err != nil || n.GetFailedChecks() != 0 {
		t.Errorf("%d checks count as failed, %v; want none", n.GetFailedChecks(), err)
	}
	if released == 0 {
		t.Error("nothing was released: the test killed too early")
	}
}
