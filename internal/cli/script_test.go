package cli

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // the driver of the ledger's file

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/pgtest"
	"github.com/discreet-rl/discreet/internal/schema"
)

func TestMain(m *testing.M) {
	if os.Args[0] == runnerName {
		work()
		return
	}
	testscript.Main(m, map[string]func(){
		"discreet": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	server := &postgres{}
	t.Cleanup(server.stop)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Condition: func(name string) (bool, error) {
			if name != "postgres" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return server.available()
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			e.Setenv("GOGC", "400") // commands are short, and few of them need their memory again
			e.Values[runnerName] = &runner{env: e.Vars}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"database": server.database, "exits": exits, "follows": follows, "head": head, "process": process, "race": race, "replace": replace, "sql": runSQL, "until": until, "witness": keepWitness,
		},
	})
}

// postgres is a server that is started for the first script that asks.
type postgres struct {
	once   sync.Once
	server *pgtest.Postgres
	err    error
}

// available reports whether there is one; where tests must have it (CI), its lack
// is an error.
func (p *postgres) available() (bool, error) {
	p.once.Do(func() { p.server, p.err = pgtest.Start(pgtest.Memory()) })
	if errors.Is(p.err, pgtest.ErrUnavailable) && !pgtest.Required() {
		return false, nil
	}
	return p.err == nil, p.err
}

// database puts the URL of an empty database into a variable: database LEDGER.
func (p *postgres) database(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || p.server == nil {
		ts.Fatalf("usage: [!postgres] skip; database VARIABLE")
	}
	url, err := p.server.NewSchema()
	ts.Check(err)
	ts.Setenv(args[0], url)
}

func (p *postgres) stop() {
	if p.server != nil {
		p.server.Stop()
	}
}

// exits runs a command and wants an exit code: exits 2 discreet evaluate x.yaml. One of discreet reads no standard input.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "discreet" {
		process(ts, neg, args)
		return
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := ts.Value(runnerName).(*runner).run(ts, args[2:]); got != want {
		ts.Fatalf("exit code %d; want %d", got, want)
	}
}

// process is exits in a process of the command's own, with standard input.
func process(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS..., process CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d; want %d", got, want)
	}
}

// follows holds the last standard output against a schema: follows release.v1.json.
func follows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: follows SCHEMA")
	}
	ts.Check(schema.Check(schema.Name(args[0]), []byte(ts.ReadFile("stdout"))))
}

// head puts the head that ledger verify --json printed last into a variable.
func head(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: head VARIABLE")
	}
	var v verdict
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	ts.Setenv(args[0], fmt.Sprintf("%d:%s", v.Ledgers[0].Head.Seq, v.Ledgers[0].Head.Hash))
}

// race runs a command in N processes at once and wants K of them to end with 0,
// and all others with 3; K+ wants K at least: race 8 3 discreet evaluate x.yaml.
func race(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: race N K COMMAND ARGS...")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	count, atLeast := strings.CutSuffix(args[1], "+")
	want, err := strconv.Atoi(count)
	ts.Check(err)
	codes := make([]int, n)
	outputs := make([][]byte, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			cmd := exec.Command(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], args[2]), args[3:]...)
			cmd.Dir = ts.Getenv("WORK")
			cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME")}
			outputs[i], _ = cmd.CombinedOutput()
			codes[i] = cmd.ProcessState.ExitCode()
		})
	}
	all.Wait()
	done := 0
	for i, code := range codes {
		switch code {
		case fault.ExitDone:
			done++
		case fault.ExitRefused:
		default:
			ts.Fatalf("a process ended with %d: %s", code, outputs[i])
		}
	}
	if done != want && !(atLeast && done > want) {
		ts.Fatalf("%d of %d processes were paid; want %s", done, n, args[1])
	}
}

// replace writes a file with the first of a text replaced: replace OLD NEW FROM TO.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: replace OLD NEW FROM TO")
	}
	old := ts.ReadFile(args[2])
	if !strings.Contains(old, args[0]) {
		ts.Fatalf("%s does not hold %q", args[2], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(strings.Replace(old, args[0], args[1], 1)), 0o600))
}

// runSQL changes a ledger behind its back: sql FILE STATEMENTS; or wants the store
// to refuse it: ! sql FILE STATEMENTS PATTERN.
func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 && !(neg && len(args) == 3) {
		ts.Fatalf("usage: sql FILE STATEMENTS, or ! sql FILE STATEMENTS PATTERN")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	switch {
	case !neg:
		ts.Check(err)
	case err == nil || !regexp.MustCompile(args[2]).MatchString(err.Error()):
		ts.Fatalf("%v; want an error with %q", err, args[2])
	}
}

// until repeats a command until its standard output matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND ARGS...")
	}
	want := regexp.MustCompile(args[0])
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := ts.Exec(args[1], args[2:]...); err == nil && want.Match(bytes.TrimSpace([]byte(ts.ReadFile("stdout")))) {
			return
		}
	}
	ts.Fatalf("%q was never printed", args[0])
}
