//go:build flink

package beam

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/scale"
)

var (
	flinkDir = flag.String("flink", filepath.Join(os.TempDir(), "discreet-flink"), "directory of flink/run.sh")
	jobsAt   = flag.String("jobs", "", "HOST:PORT of a job service that runs already, in place of flink/run.sh")
	persons  = flag.Int("persons", 2000, "persons of the timed test, about 38 rows each")
	pieces   = flag.Int("pieces", 8, "shards of the timed test")
)

// flink starts Flink once for all tests that ask.
var flink = sync.OnceValues(func() (string, error) {
	if *jobsAt != "" {
		return *jobsAt, nil
	}
	cmd := exec.Command("flink/run.sh", *flinkDir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("flink/run.sh ended: %w: %w", err, cmd.Wait())
	}
	return strings.TrimPrefix(strings.TrimSpace(line), "ready "), nil
})

// poolProcess is a discreet-beam worker in a process of its own.
func poolProcess(t testing.TB, address string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), poolVariable+"="+address)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the worker ended: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// onFlink is an engine on Flink, with a worker beside its TaskManager.
func onFlink(t testing.TB) (e *Engine, worker *exec.Cmd) {
	t.Helper()
	jobs, err := flink()
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("localhost:%d", free.Addr().(*net.TCPAddr).Port)
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	worker = poolProcess(t, address)
	e, err = Open(t.Context(), Config{Jobs: jobs, Workers: address, Parallelism: 2, Tell: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, worker
}

// TestFlinkReleasesTheBytesOfOneProcess.
func TestFlinkReleasesTheBytesOfOneProcess(t *testing.T) {
	s := newStage(t, 120, 5)
	e, _ := onFlink(t)
	for name, overrides := range map[string][]string{"dp-wis": wis, "dp-refine": refine} {
		s.evaluate(t, name, e, overrides...)
	}
}

// TestAWorkerKilledInMidBundle: another one in its place, and the bytes are those of one
// process.
func TestAWorkerKilledInMidBundle(t *testing.T) {
	s := newStage(t, 120, 3)
	e, worker := onFlink(t)
	pipe := fifo(t, s.dir)
	go func() {
		held := reached(t, pipe)
		if err := worker.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = worker.Wait()
		other := filepath.Join(s.dir, "other")
		if err := os.Symlink(s.shards[1], other); err != nil {
			t.Error(err)
		}
		if err := os.Rename(other, pipe); err != nil {
			t.Error(err)
		}
		_ = held.Close()
		poolProcess(t, e.config.Workers)
	}()
	s.evaluate(t, "killed", inRound{Engine: e, round: 2, shards: []string{s.shards[0], pipe, s.shards[2]}}, refine...)
	if worker.ProcessState == nil {
		t.Error("no worker was killed")
	}
}

// TestADriverKilledInMidRoundOfFlink, while a worker is in the midst of its bundle: another
// goes on, with the bytes of a driver without Flink.
func TestADriverKilledInMidRoundOfFlink(t *testing.T) {
	s := newStage(t, 120, 4)
	e, _ := onFlink(t)
	t.Setenv(workersVariable, e.config.Workers)
	goesOn(t, s, e, e.config.Jobs)
}

// TestARoundOnFlink is timed: of persons in pieces, with the release of one process.
func TestARoundOnFlink(t *testing.T) {
	start := time.Now()
	s := newStage(t, *persons, *pieces)
	t.Logf("%d persons in %d shards, written in %.1f s", *persons, *pieces, time.Since(start).Seconds())
	e, _ := onFlink(t)
	timed := &timed{Engine: e}
	s.evaluate(t, "timed", timed, wis...)
	t.Logf("dp-wis: seconds of the check and of each round: %.2f", timed.seconds)
}

// timed keeps what each round took.
type timed struct {
	scale.Engine
	seconds []float64
}

func (e *timed) Round(ctx context.Context, r scale.Round) ([]scale.Partial, error) {
	start := time.Now()
	p, err := e.Engine.Round(ctx, r)
	e.seconds = append(e.seconds, time.Since(start).Seconds())
	return p, err
}
