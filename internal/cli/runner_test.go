package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/discreet-rl/discreet/scale"
)

// runner runs the commands of one script in one process: most take less time than a process to start.
type runner struct {
	env      []string
	tasks    *json.Encoder
	outcomes *json.Decoder
}

type order struct {
	Dir  string
	Args []string
	Vars map[string]string
}

type ended struct {
	Code           int
	Stdout, Stderr []byte
}

// runnerName is what the process is started as.
const runnerName = "runner"

// work is the process.
func work() {
	tasks, outcomes := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var t order
		err := tasks.Decode(&t)
		if errors.Is(err, io.EOF) {
			return
		}
		for name, value := range t.Vars {
			err = errors.Join(err, os.Setenv(name, value))
		}
		if err = errors.Join(err, os.Chdir(t.Dir)); err != nil {
			panic(err)
		}
		var stdout, stderr bytes.Buffer
		code := Main(t.Args, strings.NewReader(""), &stdout, &stderr)
		if err := outcomes.Encode(ended{code, stdout.Bytes(), stderr.Bytes()}); err != nil {
			panic(err)
		}
	}
}

// run gives the exit code of a command; what it prints is the script's output.
func (w *runner) run(ts *testscript.TestScript, args []string) int {
	if w.tasks == nil {
		w.start(ts)
	}
	t := order{ts.MkAbs("."), args, map[string]string{}}
	for _, name := range []string{"PATH", "TMPDIR", scale.KeyVariable, scale.KeyFileVariable} { // what scripts change
		t.Vars[name] = ts.Getenv(name)
	}
	var o ended
	ts.Check(w.tasks.Encode(t))
	ts.Check(w.outcomes.Decode(&o))
	for to, text := range map[io.Writer][]byte{ts.Stdout(): o.Stdout, ts.Stderr(): o.Stderr} {
		_, err := to.Write(text)
		ts.Check(err)
	}
	return o.Code
}

func (w *runner) start(ts *testscript.TestScript) {
	path, err := os.Executable()
	ts.Check(err)
	cmd := &exec.Cmd{Path: path, Args: []string{runnerName}, Env: w.env, Stderr: os.Stderr}
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	w.tasks, w.outcomes = json.NewEncoder(stdin), json.NewDecoder(stdout)
	ts.Defer(func() {
		stdin.Close()
		ts.Check(cmd.Wait())
	})
}
