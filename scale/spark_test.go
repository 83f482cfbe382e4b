//go:build spark

package scale

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

var (
	sparkDir     = flag.String("spark", filepath.Join(os.TempDir(), "discreet-spark"), "environment of Python with PySpark, which examples/spark/install.sh makes")
	sparkPersons = flag.Int("spark-persons", 2000, "persons, about 38 rows each")
	sparkPieces  = flag.Int("spark-pieces", 8, "partitions")
)

// watched stands before discreet on Spark's executors. Every start leaves a line in a file of the round. The sixth
// of round 2, when rows were placed and partitions are answered for, kills the executor; the sixth of
// round 3 does nothing until the run is over, so that Spark runs a second attempt beside it.
const watched = `#!/bin/sh
cd %[1]q
round=$(cat round)
echo "$$" >>calls-$round
if [ "$(wc -l <calls-$round)" -ge 6 ] && mkdir done-$round 2>/dev/null; then
	if [ "$round" = 2 ]; then
		daemon=$(cut -d" " -f4 /proc/$PPID/stat)
		executor=$(cut -d" " -f4 /proc/$daemon/stat)
		tr "\0" " " </proc/$executor/cmdline | grep -q CoarseGrainedExecutorBackend && kill -9 "$executor" && touch killed
	elif [ "$round" = 3 ]; then
		while [ ! -e over ]; do sleep 0.2; done
	fi
fi
exec %[1]q/discreet "$@"
`

// TestSparkGroupsRows: of a DataFrame whose rows are in no order, on two executors, of which one is lost in
// round 2, and with an attempt in round 3 that Spark doubles; the release has the bytes of one process, and Spark's
// logs have neither ids nor the key.
func TestSparkGroupsRows(t *testing.T) {
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	run("../examples/spark/install.sh", *sparkDir)
	bin, dir, logs := t.TempDir(), t.TempDir(), t.TempDir()
	run("go", "build", "-o", filepath.Join(bin, "discreet"), "../cmd/discreet")
	program := put(t, fmt.Sprintf(watched, bin), bin, "watched")
	put(t, "0", bin, "round")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	d := people(t, *sparkPersons, 3)
	if err := file.Write(filepath.Join(dir, "sorted.parquet"), "", d); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(*sparkDir, "bin", "python")
	cmd := exec.CommandContext(t.Context(), python, filepath.Join(root, "scale", "testdata", "spark.py"), dir, "local-cluster[2,1,1024]",
		"spark.python.worker.reuse=false", "spark.executor.memory=700m", "spark.eventLog.enabled=true", "spark.eventLog.dir=file://"+logs,
		"spark.speculation=true", "spark.speculation.quantile=0.5", "spark.speculation.multiplier=1.5", "spark.speculation.interval=200ms",
		"spark.executorEnv.PYTHONPATH="+filepath.Join(root, "python", "src"), "spark.executorEnv.DISCREET_BINARY="+program, "spark.ui.enabled=false")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "python", "src"), "DISCREET_BINARY="+program, "PYSPARK_PYTHON="+python, "SPARK_LOCAL_IP=127.0.0.1")
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		put(t, "", bin, "over")
		in.Close()
		cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		t.Fatalf("no session of Spark\n%s", said.String())
	}
	s := stage{dir: dir, config: filepath.Join(dir, "q.json"), overrides: []string{`data.path="sorted.arrow"`}}
	dr := s.driver(t)
	dr.Partitions = *sparkPieces
	begun := time.Now()
	dr.Engine = Command{Call: func(_ context.Context, r Round, task, out string) error {
		put(t, fmt.Sprint(r.Task.Round), bin, "round")
		text, err := json.Marshal(map[string]any{"round": r.Task.Round, "partitions": r.Task.Shards, "task": task, "out": out, "key": fmt.Sprintf("%x", r.Key)})
		if err == nil {
			_, err = in.Write(append(text, '\n'))
		}
		if err == nil && !lines.Scan() {
			err = fmt.Errorf("%w: no answer", ErrEngine)
		}
		t.Logf("round %d after %.1f s: %s", r.Task.Round, time.Since(begun).Seconds(), lines.Text())
		return err
	}}
	got, err := dr.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5)))
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	t.Logf("%d rows of %d persons in %d partitions: %.1f s in all", d.Rows(), *sparkPersons, *sparkPieces, time.Since(begun).Seconds())
	if want := s.inOneProcess(t, 5); !bytes.Equal(got.JSON, want) {
		t.Errorf("Spark's release is\n%s\nthat of one process\n%s", got.JSON, want)
	}
	calls := make([]int, 4)
	for _, k := range []int{0, 2, 3} {
		text, err := os.ReadFile(filepath.Join(bin, fmt.Sprintf("calls-%d", k)))
		if err != nil {
			t.Fatal(err)
		}
		calls[k] = bytes.Count(text, []byte("\n"))
	}
	if _, err := os.Stat(filepath.Join(bin, "killed")); err != nil || calls[2] <= calls[0] {
		t.Errorf("no executor was lost: %v; starts by round: %v", err, calls)
	}
	if calls[0] <= *sparkPieces {
		t.Errorf("the check had %d tasks with rows; want one for each partition, and some that place rows", calls[0])
	}
	if calls[3] <= calls[0] {
		t.Errorf("no attempt was doubled; starts by round: %v", calls)
	}
	t.Logf("starts of workers by round: %v", calls)
	hidden := []string{"person 1", fmt.Sprintf("%x", dr.Key), fmt.Sprintf("%x", dr.Key.partition(0, 1).key)}
	if err := filepath.WalkDir(logs, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, h := range hidden {
			if strings.Contains(string(text), h) || strings.Contains(said.String(), h) {
				t.Errorf("Spark's log %s tells %q", path, h)
			}
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
