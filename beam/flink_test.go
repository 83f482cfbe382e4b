//go:build flink

// Flink on this machine, the worker that its jobs ask, and rounds that nothing disturbs.

package beam

import (
	"bufio"
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
)

var (
	flinkDir = flag.String("flink", filepath.Join(os.TempDir(), "discreet-flink"), "directory of flink/run.sh")
	persons  = flag.Int("persons", 2000, "persons of the large timed test, about 38 rows each")
	pieces   = flag.Int("pieces", 8, "shards of the large timed test")
	kills    = flag.Int("kills", 10, "drivers that are killed at random moments")
)

// cluster is Flink on this machine.
type cluster struct {
	jobs string // the address of the job service
	pid  int    // of flink/run.sh
}

// flink starts Flink once for all tests that ask.
var flink = sync.OnceValues(func() (cluster, error) {
	cmd := exec.Command("flink/run.sh", *flinkDir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return cluster{}, err
	}
	if err := cmd.Start(); err != nil {
		return cluster{}, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return cluster{}, fmt.Errorf("flink/run.sh ended: %w: %w", err, cmd.Wait())
	}
	return cluster{strings.TrimPrefix(strings.TrimSpace(line), "ready "), cmd.Process.Pid}, nil
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
	c, err := flink()
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
	e, err = Open(t.Context(), Config{Jobs: c.jobs, Workers: address, Parallelism: 2, Tell: func(line string) { t.Log(line) }})
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

// TestFlinkMakesTheShardsOfOneProcess, and evaluates them.
func TestFlinkMakesTheShardsOfOneProcess(t *testing.T) {
	s := newStage(t, 120, 5)
	files := s.pieces(t)
	e, _ := onFlink(t)
	shards, err := e.Shard(t.Context(), s.sharding(files, "made"))
	if err != nil {
		t.Fatal(err)
	}
	s.made(t, e, files, shards)
}
