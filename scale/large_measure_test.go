//go:build slow && measure

package scale

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/parquet"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

var (
	sizes = flag.String("sizes", "1e5", "rows of the measurement, about, from the smallest set of shards to the largest")
	asked = flag.String("methods", "dp-wis,dp-refine", "methods of the measurement")
	data  = flag.String("data", "", "directory of the shards")
)

// Of a set of shards for a measurement. A million rows are of 24,420 persons, each with
// one episode.
const (
	personsInAMillion = 24_420
	personsInAShard   = 50_000
	fewestShards      = 8
)

// set is a set of shards by its size.
type set struct {
	dir     string
	persons int
}

// sets are those that the flags ask for.
func sets(t *testing.T) []set {
	t.Helper()
	if *data == "" {
		t.Fatal("-data is missing: the directory of the shards")
	}
	var out []set
	for _, text := range strings.Split(*sizes, ",") {
		about, err := strconv.ParseFloat(text, 64)
		if err != nil || about > 1e6/personsInAMillion*math.MaxInt32 {
			t.Fatalf("%s rows: %v", text, err)
		}
		out = append(out, set{filepath.Join(*data, "chain-"+text), int(about / 1e6 * personsInAMillion)})
	}
	return out
}

// TestLargeSimulated makes the shards that [TestLargeMeasure] reads, unless they are
// there. It is a run of its own: the peak of a process that it began would not be below
// its own.
func TestLargeSimulated(t *testing.T) {
	for _, s := range sets(t) {
		start := time.Now()
		rows := s.simulate(t)
		files, size := s.size(t)
		t.Logf("%d rows of %d persons in %d shards of %.2f GB in all, made or found in %.0f s", rows, s.persons, files, float64(size)/1e9, time.Since(start).Seconds())
	}
}

// TestLargeMeasure prints the table of docs/results/scale.md, section Shards: dp-wis and
// dp-refine, tabular, on shards of the simulated chain, by the command. CPU seconds and
// the peak of resident memory are of its whole process.
func TestLargeMeasure(t *testing.T) {
	command := filepath.Join(t.TempDir(), "discreet")
	if out, err := exec.Command("go", "build", "-o", command, "../cmd/discreet").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	methods := strings.Split(*asked, ",")
	took := map[string][]usage{}
	for _, set := range sets(t) {
		rows := set.rows(t)
		for _, m := range methods {
			u := measured(t, command, set, m)
			u.rows = rows
			took[m] = append(took[m], u)
			t.Logf("%s, %d rows: %.1f s by the wall, %.1f CPU s, peak %.0f MB", m, rows, u.wall, u.cpu, u.peak)
		}
	}
	for _, m := range methods {
		all := took[m]
		for _, u := range all[1:] {
			first := all[0]
			growth := math.Log(float64(u.rows) / float64(first.rows))
			t.Logf("%s: from %d to %d rows CPU seconds grow with the power %.3f, wall seconds with %.3f", m, first.rows, u.rows,
				math.Log(u.cpu/first.cpu)/growth, math.Log(u.wall/first.wall)/growth)
		}
	}
}

// usage is what a run took.
type usage struct {
	rows            int64
	wall, cpu, peak float64 // seconds, seconds, MB
}

// measured runs the command.
func measured(t *testing.T, command string, s set, method string) usage {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "q.yaml")
	if err := os.WriteFile(filepath.Join(dir, "pi.csv"), []byte(strings.Repeat("0.4,0.6\n", chain.States)), 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`
data: {path: unused, behavior: {source: logged}}
problem: {persons: %d, gamma: 0.99, reward: {min: 0, max: 1}, return: {min: 0, max: 1}, horizon: 400}
privacy: {adjacency: replace_one, epsilon: 1, delta: 1.0e-9}
method: {name: %s}
`, s.persons, method)
	if method == "dp-refine" {
		text += "target: {kind: logged}\nfeatures: {kind: tabular, states: 40, column: obs_state}\n"
	} else {
		text += "target: {kind: table, path: pi.csv, column: obs_state}\n"
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command, "evaluate", "--json", config, "--shards", filepath.Join(s.dir, "*.parquet"), "--on", "local", "--run", filepath.Join(dir, "run"))
	var told strings.Builder
	cmd.Stderr = &told
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", method, err, told.String())
	}
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return usage{wall: time.Since(start).Seconds(), cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), peak: float64(u.Maxrss) / 1024}
}

// simulate makes the shards, unless they are there, and counts their rows. Persons are
// numbered, and each shard is simulated by itself, so that one of them for each processor
// is in memory.
func (of set) simulate(t *testing.T) int64 {
	t.Helper()
	count := max(fewestShards, (of.persons+personsInAShard-1)/personsInAShard)
	if err := os.MkdirAll(of.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	key := [16]byte{1}
	members := make([][]int32, count)
	for p := range of.persons {
		s := sipHash(key, strconv.Itoa(p)) % uint64(count)
		members[s] = append(members[s], int32(p))
	}
	errs := make([]error, count)
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for s := range next {
				errs[s] = simulateShard(filepath.Join(of.dir, fmt.Sprintf("s%05d.parquet", s)), key, s, count, members[s])
				members[s] = nil
			}
		})
	}
	for s := range count {
		next <- s
	}
	close(next)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return of.rows(t)
}

// simulateShard makes one shard, unless it is there.
func simulateShard(path string, key [16]byte, number, count int, members []int32) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	d, err := chain.Simulate(chain.Options{Episodes: len(members), Seed: uint64(number) + 1, Workers: 1})
	if err != nil {
		return err
	}
	for i, p := range members {
		d.EpisodeID[i] = strconv.Itoa(int(p)) // and PersonID, which is the same slice
	}
	slices.Sort(d.EpisodeID)
	marks := map[string]string{markNumber: strconv.Itoa(number), markCount: strconv.Itoa(count), markKey: hex.EncodeToString(key[:])}
	return atomicfile.Create(path, 0o600, func(w io.Writer) error { return file.WriteMarked(w, d, marks) })
}

// files opens the shards one after the other.
func (of set) files(t *testing.T, each func(f *os.File, size int64)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(of.dir, "*.parquet"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no shards (%v); make them with -run LargeSimulated", of.dir, err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		each(f, info.Size())
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// rows counts them by the footers.
func (of set) rows(t *testing.T) int64 {
	t.Helper()
	n := int64(0)
	of.files(t, func(f *os.File, size int64) {
		p, err := parquet.Open(f, size)
		if err != nil {
			t.Fatal(err)
		}
		n += p.Rows()
	})
	return n
}

// size counts files and their bytes.
func (of set) size(t *testing.T) (files int, bytes int64) {
	t.Helper()
	of.files(t, func(_ *os.File, size int64) { files, bytes = files+1, bytes+size })
	return files, bytes
}
