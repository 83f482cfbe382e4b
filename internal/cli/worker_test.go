package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// workerProcess is a worker in a process of its own.
type workerProcess struct {
	t   *testing.T
	cmd *exec.Cmd
	to  io.WriteCloser
	out io.Reader
	id  int
}

func startWorker(t *testing.T) *workerProcess {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(stop)
	w := &workerProcess{t: t, cmd: exec.CommandContext(ctx, "discreet", "worker")}
	var err error
	if w.to, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if w.out, err = w.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.to.Close()
		if err := w.cmd.Wait(); err != nil {
			t.Errorf("the worker: %v", err)
		}
	})
	w.read(new(struct{}))
	return w
}

func (w *workerProcess) read(head any) {
	w.t.Helper()
	var size [4]byte
	if _, err := io.ReadFull(w.out, size[:]); err != nil {
		w.t.Fatal(err)
	}
	text := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(w.out, text); err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal(text, head); err != nil {
		w.t.Fatal(err)
	}
}

// outcome is what a command printed and how it ended.
type outcome struct {
	exit        int
	out, errors string
}

func (w *workerProcess) run(in []byte, args ...string) outcome {
	w.t.Helper()
	w.id++
	head, err := json.Marshal(map[string]any{"id": w.id, "args": args, "bytes": len(in)})
	if err != nil {
		w.t.Fatal(err)
	}
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(head))), head...)
	if _, err := w.to.Write(append(frame, in...)); err != nil {
		w.t.Fatal(err)
	}
	var d struct{ ID, Exit, Stdout, Stderr int }
	w.read(&d)
	if d.ID != w.id {
		w.t.Fatalf("an answer to call %d; want %d", d.ID, w.id)
	}
	printed := make([]byte, d.Stdout+d.Stderr)
	if _, err := io.ReadFull(w.out, printed); err != nil {
		w.t.Fatal(err)
	}
	return outcome{d.Exit, string(printed[:d.Stdout]), string(printed[d.Stdout:])}
}

func alone(in *os.File, args ...string) outcome {
	cmd := exec.Command("discreet", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if in != nil {
		cmd.Stdin = in
	}
	_ = cmd.Run()
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

const workerQuestion = `
data: {path: %s, format: csv, behavior: {source: design}}
problem: {persons: 312, gamma: 1, reward: {min: 0, max: 1}, return: {min: 0, max: 3}, horizon: 3}
target: {kind: constant, action: 1}
method: {name: %s}
`

// TestAWorkerAnswersAsTheCommand: what it prints, byte for byte, and how it ends, one call after
// another, with the data in a file and at standard input.
func TestAWorkerAnswersAsTheCommand(t *testing.T) {
	dir := t.TempDir()
	trial, err := filepath.Abs("../../examples/pbc/trajectories.csv")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	named := write("named.yaml", fmt.Sprintf(workerQuestion, trial, "pdis")+"privacy: none\n")
	handed := write("handed.yaml", fmt.Sprintf(workerQuestion, "/dev/stdin", "pdis")+"privacy: none\n")
	broken := write("broken.yaml", "data: [")
	data, err := os.ReadFile(trial)
	if err != nil {
		t.Fatal(err)
	}
	w := startWorker(t)
	for range 2 {
		for _, args := range [][]string{
			{"evaluate", named}, {"evaluate", "--json", named}, {"plan", named}, {"validate", "--config", named}, {"validate", trial},
			{"evaluate", broken}, {"--messages", "json", "evaluate", broken}, {"evaluate"}, {"no-such"}, {"evaluate", handed}, {"methods", "--json"}, {"worker"},
		} {
			want := alone(nil, args...)
			if args[0] == "worker" { // its requests are empty
				want.out, want.errors = w.run(nil, args...).out, ""
			}
			if got := w.run(nil, args...); got != want {
				t.Errorf("%q: %+v; want %+v", args, got, want)
			}
		}
		if runtime.GOOS != "linux" {
			continue
		}
		for _, args := range [][]string{{"evaluate", handed}, {"validate", "--json", "--config", handed}, {"evaluate", "--json", named}} {
			in, err := os.Open(trial)
			if err != nil {
				t.Fatal(err)
			}
			want := alone(in, args...)
			in.Close()
			if got := w.run(data, args...); got != want {
				t.Errorf("%q with data: %+v; want %+v", args, got, want)
			}
		}
		if got := w.run(data[:len(data)-3], "evaluate", "--json", handed); got.exit != 2 || strings.Contains(got.errors, "pbc-") {
			t.Errorf("data that are cut: %+v", got)
		}
	}
}

// TestAWorkerChargesAsTheCommand: a ledger knows no difference. What one paid for under a key, the
// other gets again, byte for byte; what is refused stays refused.
func TestAWorkerChargesAsTheCommand(t *testing.T) {
	dir := t.TempDir()
	trial, err := filepath.Abs("../../examples/pbc/trajectories.csv")
	if err != nil {
		t.Fatal(err)
	}
	question, budget := filepath.Join(dir, "q.yaml"), filepath.Join(dir, "budget.db")
	text := fmt.Sprintf(workerQuestion, trial, "dp-wis") + "privacy: {adjacency: replace_one, epsilon: 1, delta: 1e-6}\nledger: {path: budget.db, dataset: trial}\n"
	if err := os.WriteFile(question, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := startWorker(t)
	if got := w.run(nil, "ledger", "init", budget, "--dataset", "trial", "--epsilon", "2.2", "--delta", "1e-5", "--adjacency", "replace_one"); got.exit != 0 {
		t.Fatalf("%+v", got)
	}
	first := w.run(nil, "evaluate", "--json", "--key", "monday", question)
	second := alone(nil, "evaluate", "--json", "--key", "tuesday", question)
	if first.exit != 0 || second.exit != 0 {
		t.Fatalf("%+v\n%+v", first, second)
	}
	for key, want := range map[string]string{"monday": first.out, "tuesday": second.out} {
		for _, got := range []outcome{w.run(nil, "evaluate", "--json", "--key", key, question), alone(nil, "evaluate", "--json", "--key", key, question)} {
			if got.exit != 0 || got.out != want || !strings.Contains(got.errors, "nothing was spent") {
				t.Errorf("key %s: %+v", key, got)
			}
		}
	}
	refused, want := w.run(nil, "evaluate", "--json", "--key", "wednesday", question), alone(nil, "evaluate", "--json", "--key", "thursday", question)
	if refused.exit != 3 || refused != want {
		t.Errorf("%+v; want %+v", refused, want)
	}
	if got, want := w.run(nil, "ledger", "verify", "--json", budget), alone(nil, "ledger", "verify", "--json", budget); got != want || got.exit != 0 {
		t.Errorf("%+v; want %+v", got, want)
	}
}
