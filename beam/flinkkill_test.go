//go:build flink

// Drivers and workers that are killed while Flink runs their rounds.

package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/scale"
)

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

// charged is a question of five sums that a ledger pays for.
var charged = append([]string{"ledger={path: budget.db, dataset: chain}", "privacy.epsilon=0.5"}, refine...)

// Exit codes of a driver in a process of its own.
const (
	exitPending = 7 // charged, nothing drawn, and nothing to go on with
	exitOther   = 8
	exitChecks  = 9 // too many were killed in their checks
)

// TestDriveOnFlink is the process that is killed; as a test of its own it has nothing to do.
func TestDriveOnFlink(t *testing.T) {
	run := os.Getenv(runVariable)
	if run == "" {
		return // TestDriversKilledOnFlink runs it
	}
	s := stage{dir: os.Getenv(stageVariable)}
	if err := driveCharged(s, run); errors.Is(err, ledger.ErrPending) {
		os.Exit(exitPending)
	} else if errors.Is(err, ledger.ErrChecks) {
		os.Exit(exitChecks)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitOther)
	}
}

func driveCharged(s stage, run string) error {
	var err error
	if s.shards, err = filepath.Glob(filepath.Join(s.dir, "shards", "*.parquet")); err != nil {
		return err
	}
	e, err := Open(context.Background(), Config{Jobs: os.Getenv(jobsVariable), Workers: os.Getenv(workersVariable), Parallelism: 2})
	if err != nil {
		return err
	}
	d, err := s.driver(run, e, charged...)
	if err != nil {
		return err
	}
	_, err = d.Evaluate(context.Background(), discreet.WithKey(run))
	return errors.Join(err, e.Close())
}

// TestDriversKilledOnFlink at random moments, with noise from the system: the same command
// with the same key ends with the release at one charge, or the charge is pending and
// nothing was drawn for it. A noisy sum never changes once it is there, every task that
// left a driver quotes these sums, and the ledger has each of them once. Jobs of drivers
// that are gone go on meanwhile.
func TestDriversKilledOnFlink(t *testing.T) {
	s := newStage(t, 120, 4)
	e, _ := onFlink(t)
	l, err := ledger.Create(t.Context(), filepath.Join(s.dir, "budget.db"), ledger.Config{Dataset: "chain", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 500, Delta: 1e-3}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	killed, released, pending, drawn, within := 0, 0, 0, 0, map[int]int{}
	var longest time.Duration // what the last run took that was not killed: the first one is not
	for run := 0; killed < *kills; run++ {
		name := fmt.Sprintf("run%d", run)
		seen := map[string][]byte{}
		for first, ended := true, false; !ended; first = false {
			limit := time.Hour
			if longest > 0 && killed < *kills {
				limit = time.Duration(rng.Int64N(int64(longest)))
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestDriveOnFlink$")
			cmd.Env = append(os.Environ(), stageVariable+"="+s.dir, runVariable+"="+name, jobsVariable+"="+e.config.Jobs, workersVariable+"="+e.config.Workers)
			var said bytes.Buffer
			cmd.Stderr = &said
			start := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			cancel()
			sums := unchanged(t, filepath.Join(s.dir, name), seen)
			switch code := cmd.ProcessState.ExitCode(); code {
			case 0:
				released++
				drawn += sums
				ended = true
				if first {
					longest = time.Since(start)
				}
			case exitPending:
				if sums != 0 {
					t.Fatalf("%s: %d sums are drawn and it does not go on", name, sums)
				}
				pending++
				ended = true
			case exitChecks:
				if sums != 0 {
					t.Fatalf("%s: %d sums are drawn and it checks the data anew", name, sums)
				}
				if _, err := l.ClearChecks(t.Context()); err != nil { // as a steward would, who looked
					t.Fatal(err)
				}
			case -1:
				killed++
				within[sums]++
			default:
				t.Fatalf("%s: exit code %d: %v: %s", name, code, err, said.String())
			}
		}
	}
	t.Logf("%d killed, by sums that were durable then: %v; %d runs released, %d pending with nothing drawn", killed, within, released, pending)
	charges, records, rounds := 0, 0, 0
	for n, err := range l.Entries(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n.Charge != nil {
			charges++
		}
		if n.Kind == "record" {
			records++
		}
		if n.Kind == "round" {
			rounds++
		}
	}
	if err := l.Verify(t.Context()); err != nil || rounds != drawn {
		t.Errorf("the ledger has %d rounds, %v; %d sums were drawn", rounds, err, drawn)
	}
	if charges != released+pending || records != released {
		t.Errorf("%d charges and %d records for %d runs released and %d pending", charges, records, released, pending)
	}
}

// unchanged holds the noisy sums of a run against those that were seen before, and its
// tasks against the sums, and returns how many sums there are.
func unchanged(t *testing.T, dir string, seen map[string][]byte) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "sum-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if old, ok := seen[name]; ok && !bytes.Equal(old, text) {
			t.Fatalf("%s was drawn twice", name)
		}
		seen[name] = text
		var file struct {
			Of struct {
				Sum []int64 `json:"sum"`
			} `json:"of"`
		}
		if err := json.Unmarshal(text, &file); err != nil || len(file.Of.Sum) == 0 {
			t.Fatalf("%s cannot be read: %v", name, err)
		}
		sums = append(sums, fmt.Sprint(file.Of.Sum))
	}
	if len(names) < len(seen) {
		t.Fatalf("%d sums of %d are gone", len(seen)-len(names), len(seen))
	}
	for k := 2; ; k++ {
		task, _, err := scale.ReadTask(filepath.Join(dir, fmt.Sprintf("task-%04d.json", k)))
		if errors.Is(err, fs.ErrNotExist) {
			return len(names)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range task.Transcript {
			if i >= len(sums) || fmt.Sprint(n.Sum) != sums[i] {
				t.Fatalf("round %d quotes a sum %d that is not the one that is kept", k, i+1)
			}
		}
	}
}

// For a driver in a process of its own: stageVariable names its stage, and runVariable its run
// and the key of its charge.
const (
	stageVariable = "DISCREET_BEAM_TEST_STAGE"
	runVariable   = "DISCREET_BEAM_TEST_RUN"
)
