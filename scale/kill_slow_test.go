//go:build slow

package scale

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

var kills = flag.Int("kills", 25, "drivers that are killed")

// driverVariable names the directory of the stage that a killed process drives; its run
// and key are in runVariable.
const (
	driverVariable = "DISCREET_SCALE_TEST_DRIVER"
	runVariable    = "DISCREET_SCALE_TEST_RUN"
)

// Exit codes of a process that drives.
const (
	exitReleased = 0
	exitPending  = 7 // charged, nothing drawn, and nothing to go on with
	exitOther    = 8
	exitChecks   = 9 // too many were killed in their checks; nothing was read
)

func killedStage(dir string) stage {
	s := stage{dir: dir, config: filepath.Join(dir, "q.yaml"), overrides: []string{
		"ledger={path: budget.db, dataset: chain}", "method={name: dp-refine}", "target={kind: logged}", "data.behavior=null", "privacy.epsilon=0.5"}}
	s.shards, _ = filepath.Glob(filepath.Join(dir, "shards", "*.parquet"))
	return s
}

// TestDriveUntilKilled is the process that is killed; as a test of its own it has nothing
// to do.
func TestDriveUntilKilled(t *testing.T) {
	dir, run := os.Getenv(driverVariable), os.Getenv(runVariable)
	if dir == "" {
		return // TestDriversKilledAtRandomInstants runs it
	}
	d := killedStage(dir).driver(t)
	d.Dir = filepath.Join(dir, run)
	_, err := d.Evaluate(context.Background(), discreet.WithKey(run))
	switch {
	case err == nil:
		os.Exit(exitReleased)
	case errors.Is(err, ledger.ErrPending):
		os.Exit(exitPending)
	case errors.Is(err, ledger.ErrChecks):
		os.Exit(exitChecks)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(exitOther)
}

// TestDriversKilledAtRandomInstants: whenever a driver is killed, the same command ends
// with the release, at one charge, or the charge is pending and nothing was drawn for it.
// A noisy sum never changes once it is there, and none was ever seen but those: every task
// that left a driver quotes them, and the ledger has each of them once. -kills sets how
// many are killed.
func TestDriversKilledAtRandomInstants(t *testing.T) {
	s := newStage(t)
	l, err := ledger.Create(t.Context(), filepath.Join(s.dir, "budget.db"), ledger.Config{Dataset: "chain", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 500, Delta: 1e-3}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	killed, released, pending, drawn, within := 0, 0, 0, 0, map[int]int{}
	for run := 0; killed < *kills; run++ {
		name := fmt.Sprintf("run%d", run)
		at := store{dir: filepath.Join(s.dir, name), key: RunKey{9}}
		seen := map[string][]byte{}
		for ended := false; !ended; {
			cmd := exec.Command(os.Args[0], "-test.run=^TestDriveUntilKilled$")
			cmd.Env = append(os.Environ(), driverVariable+"="+s.dir, runVariable+"="+name)
			var said bytes.Buffer
			cmd.Stderr = &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Duration(rng.Int64N(int64(900*time.Millisecond))), func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			timer.Stop()
			sums := unchanged(t, at, seen)
			switch code := cmd.ProcessState.ExitCode(); code {
			case exitReleased:
				released++
				drawn += sums
				ended = true
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
				ended = killed >= 4**kills // never: bounds a run that does not get on
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

// unchanged holds the sums of a run against those that were seen before, and its tasks
// against the sums, and returns how many sums there are.
func unchanged(t *testing.T, s store, seen map[string][]byte) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, "sum-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if old, ok := seen[name]; ok && !bytes.Equal(old, text) {
			t.Fatalf("%s was drawn twice", name)
		}
		seen[name] = text
	}
	if len(names) < len(seen) {
		t.Fatalf("%d sums of %d are gone", len(seen)-len(names), len(seen))
	}
	for k := 2; ; k++ {
		task, _, err := ReadTask(s.taskOf(k))
		if errors.Is(err, os.ErrNotExist) {
			return len(names)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range task.Transcript {
			var noisy sumFile
			if found, err := s.read(s.sum(i+1), &noisy); err != nil || !found {
				t.Fatalf("round %d quotes sum %d, which is not kept: %v", k, i+1, err)
			}
			if !noisy.equal(n) {
				t.Fatalf("round %d quotes another sum %d than is kept", k, i+1)
			}
		}
	}
}
