//go:build slow && measure

package serve_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// What 200 clients see that each call once a second, at random times: the times of the
// calls Plan and GetBudget.
func TestLatencyOf200Clients(t *testing.T) {
	h := opened(t, "")
	const clients, seconds = 200, 10
	calls := map[string]func(curatorv1.CuratorServiceClient, int) error{
		"GetBudget": func(c curatorv1.CuratorServiceClient, _ int) error {
			_, err := c.GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
			return err
		},
		"Plan": func(c curatorv1.CuratorServiceClient, n int) error { // no two questions are the same
			_, err := c.Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: wish(0.1 + 1e-4*float64(n))})
			return err
		},
	}
	for name, call := range calls {
		var mu sync.Mutex
		var all []time.Duration
		var group sync.WaitGroup
		begin := time.Now()
		for i := range clients {
			group.Go(func() {
				c := h.client("ann")
				if err := call(c, i); err != nil { // the connection is made before the clock runs
					t.Error(err)
				}
				for second := range seconds {
					at := begin.Add(2*time.Second + time.Duration(second)*time.Second + time.Duration(i)*time.Second/clients)
					time.Sleep(time.Until(at))
					start := time.Now()
					if err := call(c, (second+1)*clients+i); err != nil {
						t.Error(err)
					}
					took := time.Since(start)
					mu.Lock()
					all = append(all, took)
					mu.Unlock()
				}
			})
		}
		group.Wait()
		slices.Sort(all)
		t.Logf("%s: %d calls, 200 a second: median %v, p99 %v, longest %v", name, len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	}
}

// Memory after a thousand asks and after ten thousand, of the service and its client.
func TestMemoryOverTenThousandAsks(t *testing.T) {
	h := furnish(t, "asks_per_hour: 1000000")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "budget: {epsilon: 3, delta: 1e-5}", "budget: {epsilon: 90, delta: 1e-5}", 1))
	h.open()
	resident := func() float64 {
		runtime.GC()
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
				if err != nil {
					t.Fatal(err)
				}
				return kb / 1024
			}
		}
		t.Fatal("no VmRSS")
		return 0
	}
	c := h.client("ann")
	var first float64
	for i := range 10_000 {
		r, err := c.Ask(context.Background(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.01), Key: fmt.Sprintf("%s-%d", oneKey, i)})
		if err != nil {
			t.Fatal(err)
		}
		if a := h.end("ann", r.GetAsk().GetId()); a.GetState() != curatorv1.State_STATE_RELEASED {
			t.Fatalf("ask %d: %v", i, a)
		}
		if i == 999 || i == 2499 || i == 4999 || i == 7499 || i == 9999 {
			now := resident()
			t.Logf("after %d asks: %.0f MiB resident", i+1, now)
			if i == 999 {
				first = now
			}
			if now > first+32 {
				t.Errorf("it grew from %.0f MiB", first)
			}
		}
	}
}
