package beam

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/beam/internal/s3/s3test"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/cli"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/scale"
)

const questionText = `
data: {path: "shards/*.parquet", format: parquet, behavior: {source: design, kind: column}}
problem: {persons: 120, gamma: 0.99, reward: {min: 0, max: 1}, return: {min: 0, max: 1}, horizon: 60}
features: {kind: tabular, states: 40, column: obs_state}
target: {kind: constant, action: 1}
method: {name: dp-wis}
privacy: {adjacency: replace_one, epsilon: 2, delta: 1.0e-6}
`

// The overrides that make the question one of another method.
var (
	wis    = []string(nil)
	is     = []string{"method={name: dp-is}"}
	refine = []string{"method={name: dp-refine}", "target={kind: logged}", "data.behavior=null"}
	fqe    = []string{"method={name: dp-fqe}"}
)

var runKey = scale.RunKey{7}

func TestMain(m *testing.M) {
	Init(io.Discard)
	if dir := os.Getenv(driveVariable); dir != "" {
		os.Exit(driveUntilKilled(dir))
	}
	if address := os.Getenv(poolVariable); address != "" {
		_, port, err := net.SplitHostPort(address)
		if err == nil {
			var at int
			if at, err = strconv.Atoi(port); err == nil {
				err = Pool(context.Background(), at, func(at string) { fmt.Println(at) })
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	testscript.Main(m, map[string]func(){
		"discreet-beam": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, Command())) },
	})
}

// TestTheCommand runs the verb as its script does: --on beam beside --on local, the release
// of a run that ended, and what is refused.
func TestTheCommand(t *testing.T) {
	examples, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	store := s3test.Start(t, bucket)
	testscript.Run(t, testscript.Params{Dir: "testdata", Setup: func(e *testscript.Env) error {
		e.Setenv("EXAMPLES", examples)
		for _, line := range os.Environ() {
			if name, value, _ := strings.Cut(line, "="); strings.HasPrefix(name, "AWS_") {
				e.Setenv(name, value)
			}
		}
		return nil
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"upload": func(ts *testscript.TestScript, _ bool, args []string) { // PREFIX FILE ...
			for _, path := range args[1:] {
				ts.Check(store.Add(bucket, args[0]+filepath.Base(path), []byte(ts.ReadFile(path))))
			}
		},
	}})
}

// stage is a question in a directory with shards of the chain.
type stage struct {
	dir    string
	shards []string
	rows   int
	// data are the overrides of a stage whose rows are in files, to be grouped into so many partitions.
	data       []string
	partitions int
}

func newStage(t testing.TB, persons, shards int) stage {
	t.Helper()
	t.Setenv(scale.KeyVariable, hex.EncodeToString(runKey[:])) // the workers' too
	s := stage{dir: t.TempDir()}
	d, err := chain.Simulate(chain.Options{Episodes: persons, Seed: 3, MaxSteps: 60})
	if err != nil {
		t.Fatal(err)
	}
	s.rows, d.PersonID = d.Rows(), nil
	for i := range d.Persons() {
		d.PersonID = append(d.PersonID, fmt.Sprintf("person %d", i))
	}
	if s.shards, err = scale.Write(d, filepath.Join(s.dir, "shards"), shards); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(questionText, "persons: 120", fmt.Sprintf("persons: %d", persons), 1)
	if err := os.WriteFile(filepath.Join(s.dir, "q.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// driver is one of the stage, with a run directory of this name.
func (s stage) driver(run string, e scale.Engine, overrides ...string) (scale.Driver, error) {
	path := filepath.Join(s.dir, "q.yaml")
	overrides = append(slices.Clone(s.data), overrides...)
	c, err := discreet.Load(path, overrides...)
	if err != nil {
		return scale.Driver{}, err
	}
	question, err := discreet.Question(path, overrides...)
	return scale.Driver{Config: c, Question: question, Shards: s.shards, Partitions: s.partitions, Dir: filepath.Join(s.dir, run), Key: runKey, Engine: e}, err
}

// evaluate releases by an engine, and in one process, with the same noise, and compares.
func (s stage) evaluate(t testing.TB, run string, e scale.Engine, overrides ...string) {
	t.Helper()
	d, err := s.driver(run, e, overrides...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5)))
	if err != nil {
		t.Errorf("%s: %v", run, err)
		return
	}
	want, err := discreet.Evaluate(t.Context(), d.Config, discreet.WithSource(noise.NewSeeded(5)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.JSON, want.JSON) {
		t.Errorf("%s: the runner's release is\n%s\nthat of one process\n%s", run, got.JSON, want.JSON)
	}
}

// onPrism is an engine within this process.
func onPrism(t testing.TB, c Config) *Engine {
	t.Helper()
	c.Parallelism = 2
	e, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestPrismReleasesTheBytesOfOneProcess for a ratio, a mean, and methods of several rounds.
func TestPrismReleasesTheBytesOfOneProcess(t *testing.T) {
	s, e := newStage(t, 120, 5), onPrism(t, Config{})
	for name, overrides := range map[string][]string{"dp-wis": wis, "dp-is": is, "dp-refine": refine, "dp-fqe": fqe} {
		s.evaluate(t, name, e, overrides...)
	}
}

// inRound is an engine of which the shards of one round are others.
type inRound struct {
	scale.Engine
	round  int
	shards []string
	before func(ctx context.Context)
}

func (e inRound) Round(ctx context.Context, r scale.Round) ([]scale.Partial, error) {
	if r.Task.Round == e.round {
		r.Shards = e.shards
		if e.before != nil {
			e.before(ctx)
		}
	}
	return e.Engine.Round(ctx, r)
}

// TestAFailedJobIsTriedAgain: a shard that is not to be had at first, as of a disk that is
// gone, fails the job; the next one has it, and the bytes are those of one process. Where it
// does not come back, the attempts end.
func TestAFailedJobIsTriedAgain(t *testing.T) {
	s := newStage(t, 120, 3)
	away := filepath.Join(s.dir, "away.parquet")
	others := []string{s.shards[0], away, s.shards[2]}
	failures := 0
	e := onPrism(t, Config{Attempts: 3, Tell: func(line string) {
		failures++
		if !strings.Contains(line, "attempt 1 of 3") {
			t.Errorf("told %q", line)
		}
		if err := os.Symlink(s.shards[1], away); err != nil {
			t.Error(err)
		}
	}})
	s.evaluate(t, "back", inRound{Engine: e, round: 2, shards: others}, wis...)
	if failures != 1 {
		t.Errorf("%d jobs failed; want 1", failures)
	}
	gone := []string{s.shards[0], s.shards[1], filepath.Join(s.dir, "gone.parquet")}
	d, err := s.driver("gone", inRound{Engine: onPrism(t, Config{Attempts: 2}), round: 2, shards: gone})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Evaluate(t.Context()); !errors.Is(err, ErrJob) || !strings.Contains(err.Error(), "attempt 2 of 2") {
		t.Errorf("a shard that is gone: %v", err)
	}
}

// TestARefusalIsNotTriedAgain, and says of which shard it is and nothing of what is in it.
func TestARefusalIsNotTriedAgain(t *testing.T) {
	s := newStage(t, 120, 3)
	e := onPrism(t, Config{Tell: func(line string) { t.Errorf("tried again: %s", line) }})
	d, err := s.driver("faulty", e, "data.on_violation=reject", "problem.reward={min: 0, max: 0.5, outside: reject}", "problem.return={min: 0, max: 0.5}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Evaluate(t.Context())
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "did not pass its check") || strings.Contains(err.Error(), "reward") {
		t.Errorf("faulty shards: %v", err)
	}
	if found, err := filepath.Glob(filepath.Join(s.dir, "shards", "*.faults.txt")); err != nil || len(found) == 0 {
		t.Errorf("the curator is told in %d files, %v", len(found), err)
	}
	if d, err = s.driver("keyless", e); err != nil {
		t.Fatal(err)
	}
	t.Setenv(scale.KeyVariable, "")
	_, err = d.Evaluate(t.Context())
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), scale.KeyVariable) {
		t.Errorf("workers without a key: %v", err)
	}
}

// TestACancelledRoundEnds while a worker waits for its shard.
func TestACancelledRoundEnds(t *testing.T) {
	s := newStage(t, 120, 2)
	pipe, held := fifo(t, s.dir), make(chan *os.File, 1)
	ctx, cancel := context.WithCancel(t.Context())
	e := inRound{Engine: onPrism(t, Config{}), round: 2, shards: []string{s.shards[0], pipe}, before: func(context.Context) {
		go func() {
			held <- reached(t, pipe)
			cancel()
		}()
	}}
	d, err := s.driver("cancelled", e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Evaluate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in mid-round: %v", err)
	}
	_ = (<-held).Close() // the worker waited all the time
}

// fifo is a file at which whoever opens it for reading waits for a writer.
func fifo(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "pipe.parquet")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// reached returns once somebody reads the pipe: a worker is in the midst of its bundle.
func reached(t testing.TB, pipe string) *os.File {
	t.Helper()
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Error(err)
	}
	return f
}

// The environment of processes of their own: driveVariable names the stage of a driver
// that is killed, whose directory is killedRun, and poolVariable the address of a worker.
const (
	driveVariable   = "DISCREET_BEAM_TEST_DRIVER"
	jobsVariable    = "DISCREET_BEAM_TEST_JOBS"
	workersVariable = "DISCREET_BEAM_TEST_WORKERS"
	poolVariable    = "DISCREET_BEAM_TEST_POOL"
	killedRun       = "killed"
)

// driveUntilKilled is a process that kills itself in the second round, while a worker is in
// the midst of its bundle.
func driveUntilKilled(dir string) int {
	s := stage{dir: dir}
	var err error
	if s.shards, err = filepath.Glob(filepath.Join(dir, "shards", "*.parquet")); err != nil {
		return 2
	}
	c := Config{Jobs: os.Getenv(jobsVariable), Workers: os.Getenv(workersVariable), Parallelism: 2}
	e, err := Open(context.Background(), c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	pipe := filepath.Join(dir, "pipe.parquet")
	shards := append([]string{pipe}, s.shards[1:]...)
	d, err := s.driver(killedRun, inRound{Engine: e, round: 2, shards: shards, before: func(context.Context) {
		go func() {
			if _, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}()
	}}, refine...)
	if err == nil {
		_, err = d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(5)))
	}
	fmt.Fprintln(os.Stderr, err)
	return 2
}

// letGo ends the wait of who reads the pipe, and puts a shard in its place: a runner may try
// the job of a driver that is gone again, and would hold its slots for ever.
func letGo(t testing.TB, pipe, shard string) {
	t.Helper()
	held, err := os.OpenFile(pipe, os.O_RDWR, 0) // waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	other := pipe + ".other"
	if err := os.Symlink(shard, other); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(other, pipe), held.Close()); err != nil {
		t.Fatal(err)
	}
}

// goesOn kills a driver in its second round, starts another over its run, and holds its
// release against one of a driver that was stopped there in one process: the first sum is
// that of the first driver's noise, the others of the second one's.
func goesOn(t *testing.T, s stage, e scale.Engine, jobs string) {
	t.Helper()
	pipe := fifo(t, s.dir)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), driveVariable+"="+s.dir, jobsVariable+"="+jobs)
	said, err := cmd.CombinedOutput()
	if state := cmd.ProcessState; err == nil || state.ExitCode() != -1 {
		t.Fatalf("the driver was not killed: %v\n%s", err, said)
	}
	letGo(t, pipe, s.shards[0])
	kept, err := filepath.Glob(filepath.Join(s.dir, killedRun, "sum-*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("killed in the second round: %d sums are kept, %v", len(kept), err)
	}
	second := func(run string, e scale.Engine, told func(int)) []byte {
		d, err := s.driver(run, e, refine...)
		if err != nil {
			t.Fatal(err)
		}
		d.Progress = told
		r, err := d.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(6)))
		if err != nil {
			t.Fatal(err)
		}
		return r.JSON
	}
	var rounds []int
	got := second(killedRun, e, func(k int) { rounds = append(rounds, k) })
	if len(rounds) == 0 || rounds[0] != 2 {
		t.Errorf("it goes on with rounds %v; want 2 first", rounds)
	}
	local, err := s.driver("stopped", inRound{Engine: scale.Local{}, round: 2, shards: []string{"/nonexistent"}}, refine...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := local.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5))); err == nil {
		t.Fatal("a driver without its shards released")
	}
	if want := second("stopped", scale.Local{}, nil); !bytes.Equal(got, want) {
		t.Errorf("after a kill the runner's release is\n%s\nthat of this process\n%s", got, want)
	}
}

// TestAKilledDriverGoesOn with what it drew, and with the bytes of a driver without Beam.
func TestAKilledDriverGoesOn(t *testing.T) {
	goesOn(t, newStage(t, 120, 4), onPrism(t, Config{}), "")
}

// TestEnginesThatCannotBe are refused by what is wrong.
func TestEnginesThatCannotBe(t *testing.T) {
	for _, c := range []Config{{Jobs: "localhost"}, {Workers: "50000"}, {Parallelism: -1}, {Attempts: -1}} {
		if _, err := Open(t.Context(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	t.Setenv(scale.KeyVariable, "")
	if err := Pool(t.Context(), 0, nil); !errors.Is(err, scale.ErrKey) {
		t.Errorf("workers without a key: %v", err)
	}
}
