//go:build flink

// What a round costs on Flink, in seconds of the clock and of processors.

package beam

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/scale"
)

// mostCPU bounds what Flink's processes use for a round on a few persons, in CPU seconds:
// one, and 33 where jobs bring the job server's jars.
const mostCPU = 5

// TestARoundOnFlink is timed, after Flink has seen such jobs, on a few persons and on as many
// as are asked for, with the release of one process.
func TestARoundOnFlink(t *testing.T) {
	c, err := flink()
	if err != nil {
		t.Fatal(err)
	}
	small := newStage(t, 120, *pieces)
	for _, at := range []string{"cold", "warmer", "warm"} {
		e, worker := onFlink(t)
		timed := &timed{Engine: e, flink: children(t, c.pid), worker: worker.Process.Pid, t: t}
		small.evaluate(t, at, timed, wis...)
		t.Logf("%s: 120 persons in %d shards, dp-wis, check and each round: %s", at, *pieces, timed.all)
		if last := timed.all[len(timed.all)-1]; at == "warm" && last.flink > mostCPU {
			t.Errorf("a round took Flink %.1f CPU s; want at most %d", last.flink, mostCPU)
		}
	}
	start := time.Now()
	s := newStage(t, *persons, *pieces)
	written := time.Since(start)
	t.Logf("%d rows of %d persons in %d shards, simulated and written in %.1f s", s.rows, *persons, *pieces, written.Seconds())
	e, worker := onFlink(t)
	timed := &timed{Engine: e, flink: children(t, c.pid), worker: worker.Process.Pid, t: t}
	s.evaluate(t, "large", timed, wis...)
	t.Logf("dp-wis, check and each round: %s", timed.all)
}

// timed keeps what each round took.
type timed struct {
	scale.Engine
	flink  []int // processes
	worker int
	t      testing.TB
	all    []cost
}

// cost is what a round took: seconds of the clock, and CPU seconds of Flink's processes and
// of the worker.
type cost struct {
	wall, flink, worker float64
	load                string
}

func (c cost) String() string {
	return fmt.Sprintf("%.2f s, CPU s of Flink %.2f and of the worker %.2f, load %s;", c.wall, c.flink, c.worker, c.load)
}

func (e *timed) Round(ctx context.Context, r scale.Round) ([]scale.Partial, error) {
	start, flink, worker := time.Now(), cpuOf(e.t, e.flink...), cpuOf(e.t, e.worker)
	p, err := e.Engine.Round(ctx, r)
	load, _, _ := strings.Cut(read(e.t, "/proc/loadavg"), " ")
	e.all = append(e.all, cost{time.Since(start).Seconds(), cpuOf(e.t, e.flink...) - flink, cpuOf(e.t, e.worker) - worker, load})
	return p, err
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// children are the processes that one started.
func children(t testing.TB, pid int) (all []int) {
	t.Helper()
	for _, word := range strings.Fields(read(t, fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))) {
		child, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, child)
	}
	return all
}

// cpuOf is the user and system seconds of processes.
func cpuOf(t testing.TB, pids ...int) (seconds float64) {
	t.Helper()
	for _, pid := range pids {
		text := read(t, fmt.Sprintf("/proc/%d/stat", pid))
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		for _, ticks := range fields[11:13] {
			n, err := strconv.Atoi(ticks)
			if err != nil {
				t.Fatal(err)
			}
			seconds += float64(n) / 100
		}
	}
	return seconds
}
