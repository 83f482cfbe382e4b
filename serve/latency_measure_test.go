//go:build slow && measure

package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// kind is one sort of call, and what was seen of it.
type kind struct {
	name string
	call func(c *caller, n int) error

	mu    sync.Mutex
	took  [][]time.Duration // by round
	stat  [2]float64        // jiffies of both processors: stolen, all
	spent time.Duration     // processor time of this process
}

// caller is one of the clients.
type caller struct {
	curatorv1.CuratorServiceClient
	plain *http.Client
}

// What 200 clients see that each call once a second, evenly spread. Seconds of GetBudget, of
// Plan, and of two calls that do next to nothing take turns, so that they meet the same
// machine: an empty page, which is the server, the connection and the clock alone, and
// ListDatasets, which has a token and a message too and asks no database.
func TestLatencyOf200Clients(t *testing.T) {
	ballast := service.Ballast() // as the command has it
	defer runtime.KeepAlive(ballast)
	h := opened(t, "")
	const clients, rounds = 200, 15
	kinds := []*kind{
		{name: "healthz", call: func(c *caller, _ int) error {
			r, err := c.plain.Get(h.url + "/healthz")
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, r.Body)
			return errors.Join(err, r.Body.Close())
		}},
		{name: "ListDatasets", call: func(c *caller, _ int) error {
			_, err := c.ListDatasets(t.Context(), &curatorv1.ListDatasetsRequest{})
			return err
		}},
		{name: "GetBudget", call: func(c *caller, _ int) error {
			_, err := c.GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
			return err
		}},
		{name: "Plan", call: func(c *caller, n int) error { // no two questions are the same
			_, err := c.Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: wish(0.1 + 1e-5*float64(n))})
			return err
		}},
	}
	for _, k := range kinds {
		k.took = make([][]time.Duration, rounds)
	}
	begin := time.Now().Add(2 * time.Second)
	second := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Second) }
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			c := &caller{h.client("ann"), &http.Client{Transport: bearer(h.tokens["ann"])}}
			for _, k := range kinds {
				if err := k.call(c, i); err != nil { // the connection is made before the clock runs
					t.Error(err)
				}
			}
			for n := range rounds * len(kinds) {
				k := kinds[n%len(kinds)]
				time.Sleep(time.Until(second(n).Add(time.Duration(i) * time.Second / clients)))
				start := time.Now()
				if err := k.call(c, (n+1)*clients+i); err != nil {
					t.Error(err)
				}
				took := time.Since(start)
				k.mu.Lock()
				k.took[n/len(kinds)] = append(k.took[n/len(kinds)], took)
				k.mu.Unlock()
			}
		})
	}
	time.Sleep(time.Until(begin))
	for n := range rounds * len(kinds) {
		k, stolen, all, spent := kinds[n%len(kinds)], 0.0, 0.0, processor(t)
		stolen, all = jiffies(t)
		time.Sleep(time.Until(second(n + 1)))
		nowStolen, nowAll := jiffies(t)
		k.stat[0], k.stat[1], k.spent = k.stat[0]+nowStolen-stolen, k.stat[1]+nowAll-all, k.spent+processor(t)-spent
	}
	group.Wait()
	for _, k := range kinds {
		var tails []time.Duration
		for _, took := range k.took {
			slices.Sort(took)
			if n := len(took); n > 0 {
				tails = append(tails, took[n*99/100])
			}
		}
		slices.Sort(tails)
		all := slices.Concat(k.took...)
		slices.Sort(all)
		n := len(all)
		t.Logf("%-12s %d calls, 200 a second: median %v, p90 %v, p99 %v (of the median second %v, of the best %v), longest %v; %v of processor a call, the client's part in it; %.0f%% of the processors' time stolen",
			k.name, n, all[n/2], all[n*9/10], all[n*99/100], tails[len(tails)/2], tails[0], all[n-1], k.spent/time.Duration(n), 100*k.stat[0]/k.stat[1])
	}
}

// jiffies are those of all processors since they were started: stolen by the host, and all.
func jiffies(t *testing.T) (stolen, all float64) {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line)[1:9] { // what guests had is in user
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatal(err)
		}
		if all += n; i == 7 {
			stolen = n
		}
	}
	return stolen, all
}

// processor is the processor time of this process.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Memory after a thousand asks and after ten thousand, of the service and its client.
func TestMemoryOverTenThousandAsks(t *testing.T) {
	ballast := service.Ballast() // as the command has it
	defer runtime.KeepAlive(ballast)
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
			var heap runtime.MemStats
			runtime.ReadMemStats(&heap)
			t.Logf("after %d asks: %.0f MiB resident, %.1f MiB of it live on the heap, %d goroutines", i+1, now, float64(heap.HeapAlloc)/(1<<20), runtime.NumGoroutine())
			if i == 999 {
				first = now
			}
			if first > 0 && now > first+32 {
				t.Errorf("it grew from %.0f MiB", first)
			}
		}
	}
}
