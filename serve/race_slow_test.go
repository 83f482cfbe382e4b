//go:build slow

package serve_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// 64 clients race on a budget with room for 20 asks: 20 are answered, exactly, and the
// others learn that nothing is left.
func TestSixtyFourClientsOnRoomForTwenty(t *testing.T) {
	h := furnish(t, "asks_per_hour: 1000")
	epsilon := epsilonOfTwenty(t, h)
	h.open()
	var released, refused atomic.Int64
	var clients sync.WaitGroup
	for i := range 64 {
		clients.Go(func() {
			r, err := h.client("ann").Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(epsilon), Key: fmt.Sprintf("%s-%d", oneKey, i)})
			switch code(err) {
			case 0:
			case connect.CodeResourceExhausted:
				refused.Add(1)
				return
			default:
				t.Error(err)
				return
			}
			switch a := h.end("ann", r.GetAsk().GetId()); a.GetState() {
			case curatorv1.State_STATE_RELEASED:
				released.Add(1)
			case curatorv1.State_STATE_REFUSED:
				refused.Add(1)
			default:
				t.Errorf("ended as %v", a)
			}
		})
	}
	clients.Wait()
	all, pending := h.charges()
	if released.Load() != 20 || refused.Load() != 44 || all != 20 || pending != 0 {
		t.Errorf("%d released, %d refused; %d charges, %d pending; want 20, 44, 20, 0", released.Load(), refused.Load(), all, pending)
	}
}

// epsilonOfTwenty is an epsilon of which 20 asks fit the budget of the house, and no 21st,
// as a ledger of its own counts them.
func epsilonOfTwenty(t *testing.T, h *house) float64 {
	t.Helper()
	for epsilon := .3; epsilon < 1; epsilon += .01 {
		c, err := discreet.Load(h.dir+"/pbc.yaml", "target={kind: constant, action: 1}", "method={name: dp-wis}", fmt.Sprintf("privacy.epsilon=%g", epsilon), "privacy.delta=1e-5")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := discreet.Plan(c)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Create(t.Context(), t.TempDir()+"/one.db", ledger.Config{Dataset: "pbc", Unit: "person", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 3, Delta: 1e-5}})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; err == nil && n <= 64; n++ {
			_, err = l.Charge(t.Context(), ledger.Charge{Key: fmt.Sprintf("%s-%d", oneKey, n), Analyst: "ann", Event: plan.Event, Adjacency: dp.ReplaceOne, Unit: "person"})
		}
		if closed := l.Close(); closed != nil {
			t.Fatal(closed)
		}
		if n-1 == 20 {
			return epsilon
		}
	}
	t.Fatal("no epsilon of which 20 fit")
	return 0
}

// A thousand requests that are nearly right, by random changes of bytes of good ones: none
// gets an error of the server's own, and none spends or tells anything.
func TestAThousandHostileRequests(t *testing.T) {
	h := opened(t, "")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	good := map[string]string{
		"Plan":      fmt.Sprintf(`{"dataset": "pbc", "question": %q}`, wish(0.1)),
		"Ask":       fmt.Sprintf(`{"dataset": "pbc", "question": %q, "key": %q}`, wish(0.1)+"justification: [", oneKey),
		"GetAsk":    `{"id": "01a204fe-0052-74cd-aaea-3c5384778d20"}`,
		"ListAsks":  `{"dataset": "pbc", "pageSize": 10, "pageToken": "5"}`,
		"GetBudget": `{"dataset": "pbc"}`,
		"PutPolicy": `{"dataset": "pbc", "name": "p.json", "content": "e30="}`,
	}
	letters := []byte("{}[]\"\\:,&*!|>%@`'\x00\xff\n\t 0.9eE-+~#?aZ")
	for i := range 1000 {
		for _, call := range slices.Sorted(maps.Keys(good)) {
			if i%len(good) != len(call)%len(good) {
				continue
			}
			body := []byte(good[call])
			for range 1 + random.IntN(6) {
				at := random.IntN(len(body))
				switch random.IntN(3) {
				case 0:
					body[at] = letters[random.IntN(len(letters))]
				case 1:
					body = append(body[:at], body[min(len(body), at+1+random.IntN(8)):]...)
				default:
					body = append(body[:at], append([]byte(strings.Repeat(string(letters[random.IntN(len(letters))]), 1+random.IntN(50))), body[at:]...)...)
				}
				if len(body) == 0 {
					body = []byte("{")
				}
			}
			status, answer := h.post(h.tokens["ann"], "/discreet.curator.v1.CuratorService/"+call, string(body))
			if status >= 500 {
				t.Errorf("%s %q: status %d: %s", call, body, status, answer)
			}
			if strings.Contains(answer, h.dir) || strings.Contains(answer, "goroutine") {
				t.Errorf("%s %q: the answer tells %s", call, body, answer)
			}
		}
	}
	if status, _ := h.post(h.tokens["ann"], "/discreet.curator.v1.CuratorService/GetBudget", good["GetBudget"]); status != http.StatusOK {
		t.Errorf("afterwards a good request gets %d", status)
	}
}
