//go:build slow && measure && linux

package aggregator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/pgtest"
	"github.com/discreet-rl/discreet/train"
)

// TestCostOfUploads measures, in a server that is a process of its own: CPU a report on
// a connection that is kept and on one that is fresh, time to the verdict, reports a
// second, memory, and the time in which the round is applied. Processor time is the server's, so that a busy machine
// changes it little; times to the verdict and rates are of the machine as it is.
func TestCostOfUploads(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		w := newWorld(t)
		costs(t, w, filepath.Join(w.dir, "fleet.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		p, err := pgtest.Start("")
		if errors.Is(err, pgtest.ErrUnavailable) {
			t.Skipf("NOT MEASURED ON POSTGRESQL: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Stop)
		url, err := p.NewSchema()
		if err != nil {
			t.Fatal(err)
		}
		costs(t, newWorld(t), url)
	})
}

// spentBy is the processor time of a process, user and system, and its peak memory in MiB.
func spentBy(t *testing.T, pid int) (cpu time.Duration, peak float64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 {
			peak = kib / 1024
		}
	}
	return time.Duration(user+system) * 10 * time.Millisecond, peak // a hundredth of a second a tick
}

func costs(t *testing.T, w *world, store string) {
	const dim, n, kept, fresh = 112, 1_000, 6, 2
	p := &process{t: t, w: w, listen: address(t), store: store}
	p.start()
	t.Cleanup(p.kill)
	w.url = "https://" + p.listen
	for until := time.Now().Add(time.Minute); ; pause(t.Context(), 20*time.Millisecond) {
		if _, err := dump(w.client(t, nil), w.url+"/readyz"); err == nil {
			break
		} else if time.Now().After(until) {
			t.Fatal(err)
		}
	}
	o := w.operator(t)
	w.create(t, w.spec(dim, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}), "", 0)

	devices := w.enrol(t, n)
	rng := rand.New(rand.NewPCG(1, 1))
	type cost struct {
		cpu, wall time.Duration
		each      []time.Duration
	}
	// One round, with a new report of every device.
	round := func(number, parallel int, keep bool) (out cost) {
		openRound(t, o, func(r *fleetv1.OpenRoundRequest) { r.MaxReports = 1 << 20 })
		run, current, _, err := devices[0].follow(t.Context())
		if err != nil || current.Number != uint64(number) {
			t.Fatal(current, err)
		}
		requests := make([]*fleetv1.UploadRequest, n)
		for i, d := range devices {
			body, err := d.body(current, vector(rng, dim))
			if err != nil {
				t.Fatal(err)
			}
			if requests[i], err = d.request(run, current, body); err != nil {
				t.Fatal(err)
			}
		}
		clients := make([]fleetv1.ReportServiceClient, n)
		var open []*http.Client
		for i, d := range devices {
			clients[i] = d.reports
			if !keep {
				c := w.client(t, &d.pair)
				open, clients[i] = append(open, c), fleetv1.NewReportServiceClient(c, w.url)
			}
		}
		var next atomic.Int64
		var mu sync.Mutex
		var wg sync.WaitGroup
		before, _ := spentBy(t, p.cmd.Process.Pid)
		begun := time.Now()
		for range parallel {
			wg.Go(func() {
				for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
					at := time.Now()
					answer, err := clients[i].Upload(context.Background(), requests[i])
					if err != nil || answer.GetVerdict() != fleetv1.Verdict_VERDICT_ACCEPTED {
						t.Error(answer, err)
						return
					}
					mu.Lock()
					out.each = append(out.each, time.Since(at))
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		out.wall = time.Since(begun)
		after, _ := spentBy(t, p.cmd.Process.Pid)
		out.cpu = after - before
		for _, c := range open {
			c.CloseIdleConnections()
		}
		if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: uint64(number)}); err != nil {
			t.Fatal(err)
		}
		if s := w.await(t, o, uint64(number)); s.GetAccepted() != n {
			t.Errorf("%d of %d reports count", s.GetAccepted(), n)
		}
		return out
	}
	several := func(from, rounds, parallel int, keep bool) string {
		var all cost
		for i := range rounds {
			c := round(from+i, parallel, keep)
			all.cpu, all.wall, all.each = all.cpu+c.cpu, all.wall+c.wall, append(all.each, c.each...)
		}
		count := float64(len(all.each))
		return fmt.Sprintf("%.0f us of the server's processor a report, %.0f reports/s, half of the verdicts within %v, 99%% within %v, %0.f reports",
			float64(all.cpu.Microseconds())/count, count/all.wall.Seconds(), quantile(all.each, .5), quantile(all.each, .99), count)
	}
	t.Logf("fresh connections, 16 at once: %s", several(1, fresh, 16, false))
	_, peak := spentBy(t, p.cmd.Process.Pid)
	t.Logf("%d devices that come and go: peak memory of the server %.0f MiB", n, peak)
	round(1+fresh, 64, true) // connections are open now
	t.Logf("kept connections, 64 at once: %s", several(2+fresh, kept, 64, true))
	_, peak = spentBy(t, p.cmd.Process.Pid)
	t.Logf("%d devices that stay connected: peak memory of the server %.0f MiB", n, peak)
}
