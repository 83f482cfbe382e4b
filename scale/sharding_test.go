package scale

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

var fixedKey = [16]byte{7, 1}

// log is text of CSV, an episode an entry.
type log struct {
	header   string
	episodes []string
}

// newLog has 1 to 3 episodes a person, in any order. Every third person is known by a
// number, and some observations are missing.
func newLog(persons int, seed uint64) log {
	r := rand.New(rand.NewPCG(seed, 5))
	l := log{header: "episode_id,step,unit_id,obs_a,obs_b,action,behavior_prob,prob_0,prob_1,target_prob,reward,terminated,next_obs_a,next_obs_b,discount"}
	for p := range persons {
		id := fmt.Sprintf("Person %d", p)
		if p%3 == 0 {
			id = fmt.Sprint(p)
		}
		for e := range 1 + r.IntN(3) {
			var b strings.Builder
			n := 1 + r.IntN(4)
			for step := range n {
				a, c := fmt.Sprint(r.IntN(9)), fmt.Sprint(r.Float64())
				if r.IntN(20) == 0 {
					a = ""
				}
				next := ","
				if step == n-1 && p%5 == 0 {
					next = "1,2"
				}
				fmt.Fprintf(&b, "%d-%d,%d,%s,%s,%s,%d,0.5,0.5,0.5,0.25,%v,%v,%s,1\n", p, e, step, id, a, c, r.IntN(2), r.Float64(), step == n-1 && p%2 == 0, next)
			}
			l.episodes = append(l.episodes, b.String())
		}
	}
	r.Shuffle(len(l.episodes), func(i, j int) { l.episodes[i], l.episodes[j] = l.episodes[j], l.episodes[i] })
	return l
}

// in writes the log into a number of files.
func (l log) in(t testing.TB, files int) []string {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i := range files {
		name := filepath.Join(dir, fmt.Sprintf("log%d.csv", i))
		n := len(l.episodes)
		text := l.header + "\n" + strings.Join(l.episodes[i*n/files:(i+1)*n/files], "")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// inFormat writes files of CSV anew, row for row.
func inFormat(t testing.TB, names []string, format string) []string {
	t.Helper()
	var out []string
	for _, name := range names {
		to := strings.TrimSuffix(name, ".csv") + "." + format
		switch format {
		case "csv":
			to = name
		case "csv.gz":
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write(text); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(z.Close(), os.WriteFile(to, b.Bytes(), 0o600)); err != nil {
				t.Fatal(err)
			}
		default:
			// Each episode is a person of its own with another's name, so that they keep
			// their order.
			o := trajectory.Options{Optional: trajectory.AllParts, Unit: trajectory.UnitEpisode, Missing: trajectory.MissingZero}
			d, _, err := file.Read(t.Context(), []string{name}, "", o)
			if err != nil {
				t.Fatal(err)
			}
			if format == "minari" {
				for i := range d.Terminated {
					d.Terminated[i] = true
				}
			}
			d.PersonID = nil
			for _, e := range d.EpisodeID {
				p, _, _ := strings.Cut(e, "-")
				d.PersonID = append(d.PersonID, "Person "+p)
			}
			if err := file.Write(to, format, d); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, to)
	}
	return out
}

// inMemory is what Sharding does with all rows in memory.
func inMemory(s Sharding) ([]string, error) {
	d, _, err := file.Read(context.Background(), s.Data, s.Format, s.Options)
	if err != nil {
		return nil, err
	}
	return write(d, s.Dir, s.Shards, fixedKey)
}

// same holds what Sharding makes against what is made with all rows in memory.
func same(t *testing.T, s Sharding) {
	t.Helper()
	dir := t.TempDir()
	s.Dir = filepath.Join(dir, "memory")
	want, err := inMemory(s)
	if err != nil {
		t.Fatal(err)
	}
	s.Dir = filepath.Join(dir, "disk")
	got, err := s.write(t.Context(), fixedKey)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d shards; want %d", len(got), len(want))
	}
	for i := range want {
		a, errA := os.ReadFile(want[i])
		b, errB := os.ReadFile(got[i])
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("shard %d has other bytes: %d and %d of them", i, len(b), len(a))
		}
		info, err := os.Stat(got[i])
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", got[i], info.Mode(), err)
		}
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 2 {
		t.Errorf("beside the shards: %v, %v", names, err)
	}
}

// TestShardsFromDiskAreThoseFromMemory, for formats, one file and several, orders of
// episodes, numbers of shards of one level and of two, and what options say.
func TestShardsFromDiskAreThoseFromMemory(t *testing.T) {
	all := trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero, Faults: 20}
	for _, format := range []string{"csv", "csv.gz", "parquet", "ndjson", "minari"} {
		for _, files := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d", format, files), func(t *testing.T) {
				names := inFormat(t, newLog(60, 1).in(t, files), format)
				for _, shards := range []int{1, 5} {
					o := all
					f := ""
					if format == "minari" {
						f = format
					}
					same(t, Sharding{Data: names, Format: f, Options: o, Shards: shards})
				}
			})
		}
	}
	for name, change := range map[string]func(*trajectory.Options){
		"means": func(o *trajectory.Options) {
			o.Missing, o.Means = trajectory.MissingMean, map[string]float64{"obs_a": 3}
		},
		"one observation": func(o *trajectory.Options) { o.Observations = []string{"obs_b"} },
		"no parts":        func(o *trajectory.Options) { o.Optional = 0 },
		"clipped": func(o *trajectory.Options) {
			o.Reward, o.ClipRewards = &trajectory.Range{Min: .2, Max: .7}, true
		},
		"persons are episodes": func(o *trajectory.Options) { o.Unit = trajectory.UnitEpisode },
		"an episode for a row": func(o *trajectory.Options) {
			o.OneRowEpisodes, o.Optional = true, trajectory.AllParts&^trajectory.Final
		},
		"records left out": func(o *trajectory.Options) {
			o.Missing, o.Whole, o.Repair = trajectory.MissingZero, []string{"obs_a"}, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := all
			change(&o)
			same(t, Sharding{Data: newLog(60, 2).in(t, 2), Options: o, Shards: 4})
		})
	}
	t.Run("a shard of more rows than are in memory", func(t *testing.T) {
		names := newLog(30_000, 6).in(t, 2)
		same(t, Sharding{Data: names, Options: all, Shards: 1})
		o := all
		o.OneRowEpisodes, o.Optional = true, trajectory.AllParts&^trajectory.Final // which have no names
		same(t, Sharding{Data: names, Options: o, Shards: 1})
	})
	t.Run("two levels", func(t *testing.T) {
		same(t, Sharding{Data: newLog(3000, 3).in(t, 2), Options: all, Shards: 257})
	})
}

// TestShardsAreMadeByOne: who comes while others make them, and who comes after, is told so,
// and of several at once one has its shards there, whole.
func TestShardsAreMadeByOne(t *testing.T) {
	dir := t.TempDir()
	s := Sharding{Data: newLog(40, 4).in(t, 1), Options: trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero}, Dir: filepath.Join(dir, "out"), Shards: 3}
	within := s
	within.Options.Progress = func(trajectory.Progress) {
		if _, err := s.Write(t.Context()); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "are being made in") {
			t.Errorf("a second at one time: %v", err)
		}
	}
	if _, err := within.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context()); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a second one after that: %v", err)
	}
	for round := range 10 {
		s.Dir = filepath.Join(dir, fmt.Sprint("at once ", round))
		made := make(chan error, 4)
		for range cap(made) {
			go func() {
				_, err := s.Write(t.Context())
				made <- err
			}()
		}
		won := 0
		for range cap(made) {
			if err := <-made; err == nil {
				won++
			} else if !errors.Is(err, ErrShard) {
				t.Error(err)
			}
		}
		names, _ := filepath.Glob(filepath.Join(s.Dir, "*"))
		if set, err := Set(t.Context(), names); won != 1 || err != nil || len(set) != 3 {
			t.Errorf("%d of %d made shards: %v, %v", won, cap(made), set, err)
		}
	}
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); len(hidden) != 0 {
		t.Errorf("left: %v", hidden)
	}
}

// TestWhatAKilledProcessLeftIsRemoved, and told, and what is not its own is not touched.
func TestWhatAKilledProcessLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	var told []string
	s := Sharding{Data: newLog(40, 4).in(t, 1), Options: trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero}, Dir: filepath.Join(dir, "out"), Shards: 3,
		Tell: func(line string) { told = append(told, line) }}
	left := filepath.Join(dir, ".making-out")
	for _, name := range []string{"run-1/rows/group-2", "run-1/rows/split-77/part-255", "run-1/shards/s0.parquet", "run-1/shards/.writing-123", "run-1/plan.json"} {
		path := filepath.Join(left, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("private"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	mine := filepath.Join(left, "run-1", "shards", "thesis.tex")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context()); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "nothing in it was touched") {
		t.Errorf("beside others' files: %v", err)
	}
	for _, name := range []string{"rows/split-77/part-255", "shards/thesis.tex", "plan.json"} {
		if _, err := os.Stat(filepath.Join(left, "run-1", name)); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 || !strings.Contains(told[0], "removed "+left) {
		t.Errorf("told %q", told)
	}
	if _, err := os.Lstat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

// TestNothingIsLeftOfWhatWasStopped, while files are read and while shards are written, and
// the rows are where only their owner may read them.
func TestNothingIsLeftOfWhatWasStopped(t *testing.T) {
	for _, index := range []int{0, 1} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		s := Sharding{Data: newLog(40, 4).in(t, 1), Dir: filepath.Join(dir, "out"), Shards: 3}
		s.Options = trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero, Progress: func(p trajectory.Progress) {
			if p.Index != index {
				return
			}
			for name, mode := range map[string]os.FileMode{".making-out": 0o700, ".making-out/run-*/rows": 0o700, ".making-out/run-*/shards": 0o700, ".making-out/run-*/rows/group-[012]": 0o600} {
				found, err := filepath.Glob(filepath.Join(dir, name))
				if err != nil || len(found) == 0 && index == 1 {
					t.Errorf("there is no %s", name)
				}
				for _, path := range found {
					if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != mode {
						t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
					}
				}
			}
			cancel()
		}}
		if _, err := s.Write(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("left %v, %v", left, err)
		}
		cancel()
	}
}

// TestShardsWithoutPersonsAreRefused: too many for the persons, of one level and of two,
// and data without persons.
func TestShardsWithoutPersonsAreRefused(t *testing.T) {
	for _, shards := range []int{50, mostShards} {
		s := Sharding{Data: newLog(20, 4).in(t, 1), Options: trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero}, Dir: filepath.Join(t.TempDir(), "out"), Shards: shards}
		if _, err := s.Write(t.Context()); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "one would hold nobody") {
			t.Errorf("%d: %v", shards, err)
		}
	}
	s := Sharding{Data: newLog(20, 4).in(t, 1), Options: trajectory.Options{OneRowEpisodes: true, Unit: trajectory.UnitRow, Missing: trajectory.MissingZero}, Dir: filepath.Join(t.TempDir(), "out"), Shards: 1}
	if _, err := s.Write(t.Context()); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "name no persons") {
		t.Errorf("nameless: %v", err)
	}
	for _, shards := range []int{0, -1, mostShards + 1} {
		s.Shards = shards
		if _, err := s.Write(t.Context()); !errors.Is(err, ErrShard) {
			t.Errorf("%d shards: %v", shards, err)
		}
	}
}
