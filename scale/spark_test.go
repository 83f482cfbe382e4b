//go:build spark

package scale

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
)

var (
	sparkDir     = flag.String("spark", filepath.Join(os.TempDir(), "discreet-spark"), "environment of Python with PySpark, which examples/spark/install.sh makes")
	sparkPersons = flag.Int("spark-persons", 2000, "persons, about 38 rows each")
	sparkPieces  = flag.Int("spark-pieces", 8, "shards")
)

// killsOnce stands before discreet on the path of Spark's executors: once, in round 1, it
// kills the process that called it, which is Spark's for a task, and with it the task. Every
// call leaves a line.
const killsOnce = `#!/bin/sh
echo "$3" >>%[1]q/calls
if [ "$ROUND" = 1 ] && mkdir %[1]q/killed 2>/dev/null; then
	echo "$3" >%[1]q/killed/shard
	kill -9 $PPID
	exit 1
fi
exec %[1]q/discreet "$@"
`

// TestSparkReleasesTheBytesOfOneProcess: examples/spark in local mode, two tasks at a time,
// of which one is killed in round 1 with its process; Spark runs it again.
func TestSparkReleasesTheBytesOfOneProcess(t *testing.T) {
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	run("../examples/spark/install.sh", *sparkDir)
	bin, first := t.TempDir(), t.TempDir()
	run("go", "build", "-o", filepath.Join(bin, "discreet"), "../cmd/discreet")
	put(t, fmt.Sprintf(killsOnce, bin), first, "discreet")
	if err := os.Chmod(filepath.Join(first, "discreet"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, `data.path="large/*.parquet"`, fmt.Sprintf("problem.persons=%d", *sparkPersons))
	d, err := chain.Simulate(chain.Options{Episodes: *sparkPersons, Seed: 3, MaxSteps: 60})
	if err != nil {
		t.Fatal(err)
	}
	if s.shards, err = write(d, filepath.Join(s.dir, "large"), *sparkPieces, [16]byte{1}); err != nil {
		t.Fatal(err)
	}
	round, err := filepath.Abs("../examples/spark/round.py")
	if err != nil {
		t.Fatal(err)
	}
	dr := s.driver(t)
	t.Setenv("PATH", first+":"+os.Getenv("PATH"))
	t.Setenv(KeyVariable, hex.EncodeToString(dr.Key[:]))
	t.Setenv("PYSPARK_PYTHON", filepath.Join(*sparkDir, "bin", "python"))
	var said bytes.Buffer
	// A task that fails is tried three times in all.
	dr.Engine = Command{Shell: fmt.Sprintf("%q --master 'local[2,3]' %q", filepath.Join(*sparkDir, "bin", "spark-submit"), round), Output: &said}
	begun := time.Now()
	dr.Progress = func(k int) { t.Logf("round %d after %.1f s", k, time.Since(begun).Seconds()) }
	got, err := dr.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5)))
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	t.Logf("%d rows of %d persons in %d shards: %.1f s in all", d.Rows(), *sparkPersons, *sparkPieces, time.Since(begun).Seconds())
	if want := s.inOneProcess(t, 5); !bytes.Equal(got.JSON, want) {
		t.Errorf("Spark's release is\n%s\nthat of one process\n%s", got.JSON, want)
	}
	killed, err := os.ReadFile(filepath.Join(bin, "killed", "shard"))
	if err != nil {
		t.Fatalf("no task was killed: %v", err)
	}
	calls, err := os.ReadFile(filepath.Join(bin, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	// The check, the round that was killed, and its other try, and round 2.
	if n := strings.Count(string(calls), string(killed)); n != 4 {
		t.Errorf("the shard of the killed task was answered %d times; want 4\n%s", n, said.String())
	}
}
