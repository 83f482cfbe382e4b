package beam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/discreet-rl/discreet/scale"
)

// pieces are the persons of a stage in three files, in which each lies in two: a second
// episode follows in the next file.
func (s stage) pieces(t testing.TB) []string {
	t.Helper()
	d, _, err := file.Read(t.Context(), s.shards, "parquet", trajectory.Options{Optional: trajectory.AllParts})
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for k := range 3 {
		var of []int
		for p := range d.Persons() {
			if p%3 == k || (p+1)%3 == k {
				of = append(of, p)
			}
		}
		some := d.Take(of)
		some.EpisodeID = nil
		for _, p := range of {
			some.EpisodeID = append(some.EpisodeID, fmt.Sprintf("%d of %d", k, p))
		}
		files = append(files, filepath.Join(s.dir, fmt.Sprintf("piece%d.csv", k)))
		if err := file.Write(files[k], "", some); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// sharding makes shards of files.
func (s stage) sharding(files []string, dir string) scale.Sharding {
	return scale.Sharding{Data: files, Dir: filepath.Join(s.dir, dir), Shards: 4, Options: trajectory.Options{Optional: trajectory.AllParts, Faults: 20}}
}

const markOfKey = "discreet_shard_key"

// made holds shards against those of one process with their key, byte for byte: a worker
// checks that each person is in the shard of the hash, and here every shard is written anew
// from what one process reads.
func (s stage) made(t testing.TB, e *Engine, files, shards []string) {
	t.Helper()
	if set, err := scale.Set(t.Context(), shards); err != nil || len(set) != 4 {
		t.Fatalf("%v, %v", set, err)
	}
	all, _, err := file.Read(t.Context(), files, "", trajectory.Options{Optional: trajectory.AllParts})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i, path := range shards {
		marks, err := file.Marks(t.Context(), path, "discreet_shard", "discreet_shards", markOfKey)
		if err != nil {
			t.Fatal(err)
		}
		d, _, err := file.Read(t.Context(), []string{path}, "", trajectory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var of []int
		for _, id := range d.PersonID {
			of = append(of, slices.Index(all.PersonID, id))
		}
		seen += len(of)
		var want bytes.Buffer
		if err := file.WriteMarked(&want, all.Take(of), marks); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want.Bytes()) || !slices.IsSorted(d.PersonID) {
			t.Errorf("shard %d has other bytes than one process makes, %v", i, err)
		}
	}
	if seen != all.Persons() {
		t.Errorf("%d persons in shards; want %d", seen, all.Persons())
	}
	of := s
	of.shards = shards
	if err := os.RemoveAll(filepath.Join(s.dir, "shards")); err != nil { // q.yaml reads shards/*.parquet
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(s.dir, "shards"), os.DirFS(filepath.Dir(shards[0]))); err != nil {
		t.Fatal(err)
	}
	of.evaluate(t, "of-made", e, append(slices.Clone(wis), "problem.horizon=200")...)
}

// TestPrismMakesTheShardsOfOneProcess of persons who lie in several files, and nothing is
// left beside them.
func TestPrismMakesTheShardsOfOneProcess(t *testing.T) {
	s := newStage(t, 120, 5)
	files, e := s.pieces(t), onPrism(t, Config{})
	shards, err := e.Shard(t.Context(), s.sharding(files, "made"))
	if err != nil {
		t.Fatal(err)
	}
	s.made(t, e, files, shards)
	if left, err := filepath.Glob(filepath.Join(s.dir, ".*")); err != nil || len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// TestMakingShardsIsTriedAgain: a file that is away at first, as of a disk that is gone,
// fails the job when others were divided, and the next one makes the shards. Where it does
// not come back, the attempts end.
func TestMakingShardsIsTriedAgain(t *testing.T) {
	s := newStage(t, 120, 3)
	files := s.pieces(t)
	away := files[1] + ".away"
	// The file goes when the driver has found it.
	spread := func(e *Engine) func(context.Context, string, []string, int) error {
		return func(ctx context.Context, plan string, files []string, shards int) error {
			if err := os.Rename(files[1], away); err != nil {
				return err
			}
			return e.spread(ctx, plan, files, shards)
		}
	}
	failures := 0
	e := onPrism(t, Config{Attempts: 3, Tell: func(line string) {
		failures++
		if err := os.Rename(away, files[1]); err != nil || !strings.Contains(line, "attempt 1 of 3") {
			t.Errorf("told %q, %v", line, err)
		}
	}})
	shards, err := s.sharding(files, "made").Spread(t.Context(), spread(e))
	if err != nil || failures != 1 {
		t.Fatalf("%d jobs failed, %v", failures, err)
	}
	s.made(t, e, files, shards)
	e = onPrism(t, Config{Attempts: 2})
	if _, err := s.sharding(files, "never").Spread(t.Context(), spread(e)); !errors.Is(err, ErrJob) || !strings.Contains(err.Error(), "attempt 2 of 2") {
		t.Errorf("a file that stays away: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(s.dir, ".making*")); err != nil || len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// TestFaultsAreToldByTheDriver as by one process, those between files too, and no job is
// tried again for them.
func TestFaultsAreToldByTheDriver(t *testing.T) {
	s := newStage(t, 120, 3)
	var files []string
	for i, text := range []string{"e,7,9\nf,P,1\n", "g,Q,x\ne,R,1\n", "h,07,1\n"} {
		files = append(files, filepath.Join(s.dir, fmt.Sprintf("bad%d.csv", i)))
		if err := os.WriteFile(files[i], []byte("episode_id,unit_id,reward\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := s.sharding(files, "made")
	x.Options.Reward = &trajectory.Range{Max: 1}
	_, want := x.Write(t.Context())
	_, got := onPrism(t, Config{Tell: func(line string) { t.Errorf("tried again: %s", line) }}).Shard(t.Context(), x)
	if want == nil || fmt.Sprint(got) != fmt.Sprint(want) || !strings.Contains(want.Error(), "4 faults in all") {
		t.Errorf("told\n%v\nwant\n%v", got, want)
	}
}
