package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// byWorkers divides files and joins shards as a runner may: in any order, several at a
// time, and some of it twice.
func byWorkers(t testing.TB) func(context.Context, string, []string, int) error {
	var w Worker
	return func(ctx context.Context, plan string, files []string, shards int) error {
		if info, err := os.Stat(plan); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the plan has mode %v, %v", info.Mode(), err)
		}
		packs := make([]string, len(files))
		if err := several(len(files), func(i int) (err error) {
			packs[i], err = w.Divide(ctx, plan, files[i])
			return err
		}); err != nil {
			return err
		}
		slices.Reverse(packs)
		return several(shards, func(i int) error { return w.Join(ctx, plan, i, slices.Clone(packs)) })
	}
}

// several calls with each number below n, the first of them twice.
func several(n int, with func(i int) error) error {
	order := append(rand.Perm(n), 0)
	errs := make([]error, len(order))
	var all sync.WaitGroup
	for k, i := range order {
		if k == n {
			all.Wait()
		}
		all.Go(func() { errs[k] = with(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// TestShardsOfManyWorkersAreThoseOfOneProcess, with a person's episodes in several files.
func TestShardsOfManyWorkersAreThoseOfOneProcess(t *testing.T) {
	for name, change := range map[string]func(*Sharding){
		"csv":             func(*Sharding) {},
		"one observation": func(s *Sharding) { s.Options.Observations = []string{"obs_b"} },
		"no observation":  func(s *Sharding) { s.Options.Observations = []string{} },
		"clipped": func(s *Sharding) {
			s.Options.Reward, s.Options.ClipRewards = &trajectory.Range{Min: .2, Max: .7}, true
		},
		"persons are episodes": func(s *Sharding) { s.Options.Unit = trajectory.UnitEpisode },
		"an episode for a row": func(s *Sharding) {
			s.Options.OneRowEpisodes, s.Options.Optional = true, trajectory.AllParts&^trajectory.Final
		},
		"parquet": func(s *Sharding) { s.Data = inFormat(t, s.Data, "parquet") },
		"minari": func(s *Sharding) {
			s.Data, s.Format, s.Options.Optional = inFormat(t, s.Data, "minari"), "minari", trajectory.AllParts&^trajectory.ActionProbs
		},
		"two levels":          func(s *Sharding) { s.Data, s.Shards = newLog(3000, 3).in(t, 2), 257 },
		"a file without rows": func(s *Sharding) { s.Data = append(s.Data, log{header: newLog(1, 1).header}.in(t, 1)...) },
		"an observation that is last in one file alone": func(s *Sharding) {
			l := newLog(40, 8)
			slices.SortFunc(l.episodes, func(a, b string) int { return strings.Count(a, "1,2,1\n") - strings.Count(b, "1,2,1\n") })
			s.Data = l.in(t, 6)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var notices [2][]string
			s := Sharding{Data: newLog(60, 6).in(t, 3), Shards: 5, Options: trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero, Faults: 20}}
			change(&s)
			s.Dir, s.Tell = filepath.Join(dir, "one"), func(line string) { notices[0] = append(notices[0], line) }
			want, err := s.write(t.Context(), fixedKey)
			if err != nil {
				t.Fatal(err)
			}
			s.Dir, s.Tell = filepath.Join(dir, "many"), func(line string) { notices[1] = append(notices[1], line) }
			got, err := s.spread(t.Context(), fixedKey, byWorkers(t))
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				a, errA := os.ReadFile(want[i])
				b, errB := os.ReadFile(got[i])
				if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
					t.Errorf("shard %d has other bytes: %d and %d of them, %v", i, len(b), len(a), err)
				}
			}
			if !slices.Equal(notices[0], notices[1]) {
				t.Errorf("told %q; want %q", notices[1], notices[0])
			}
			if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) != 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestWhatIsWrongIsToldWhoeverFindsIt: what each file's worker and each shard's find comes
// together as in one process. A file that breaks ends that one's reading and not others'.
func TestWhatIsWrongIsToldWhoeverFindsIt(t *testing.T) {
	for name, texts := range spoiled {
		for _, shards := range []int{1, 16} {
			dir := t.TempDir()
			s := Sharding{Data: rows(t, texts), Options: trajectory.Options{Unit: trajectory.UnitPerson, Reward: &trajectory.Range{Max: 1}, Faults: 20}, Dir: filepath.Join(dir, "out"), Shards: shards}
			_, want := inMemory(s)
			_, got := s.spread(t.Context(), fixedKey, byWorkers(t))
			if name != "broken" && (want == nil || got == nil || told(want) != told(got)) || !errors.Is(got, trajectory.ErrInput) {
				t.Errorf("%s, %d shards: got\n%s\nwant\n%s", name, shards, told(got), told(want))
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("%s: left %v, %v", name, left, err)
			}
		}
	}
}

// TestWorkersRefuseWhatIsNotTheirs: rows that are lost, of other files or cut, a shard that
// nobody joins, and a plan of another program.
func TestWorkersRefuseWhatIsNotTheirs(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(ctx context.Context, w *Worker, plan string, packs []string) error
		want string
	}{
		"lost": {func(ctx context.Context, w *Worker, plan string, packs []string) error {
			return w.Join(ctx, plan, 0, packs[1:])
		}, "did not come to shard 0"},
		"foreign": {func(ctx context.Context, w *Worker, plan string, packs []string) error {
			return w.Join(ctx, plan, 0, append(packs, plan))
		}, "rows of other files"},
		"cut": {func(ctx context.Context, w *Worker, plan string, packs []string) error {
			return errors.Join(os.Truncate(packs[1], 100), w.Join(ctx, plan, 0, packs))
		}, "is cut"},
		"no shard": {func(ctx context.Context, w *Worker, plan string, packs []string) error {
			return w.Join(ctx, plan, 2, packs)
		}, "shard 2 of 2"},
		"no file": {func(ctx context.Context, w *Worker, plan string, packs []string) error {
			_, err := w.Divide(ctx, plan, plan)
			return err
		}, "none of the files"},
		"nobody does": {func(ctx context.Context, w *Worker, plan string, packs []string) error {
			return w.Join(ctx, plan, 1, packs)
		}, "shard 0 was joined by nobody"},
		"program": {func(ctx context.Context, w *Worker, plan string, packs []string) error {
			text, err := os.ReadFile(plan)
			if err != nil {
				return err
			}
			text = bytes.Replace(text, []byte(`"program":"`), []byte(`"program":"x`), 1)
			return errors.Join(os.WriteFile(plan, text, 0o600), w.Join(ctx, plan, 0, packs))
		}, "have one program everywhere"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := Sharding{Data: newLog(60, 6).in(t, 3), Dir: filepath.Join(dir, "out"), Shards: 2, Options: trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero}}
			_, err := s.Spread(t.Context(), func(ctx context.Context, plan string, files []string, _ int) error {
				var w Worker
				var packs []string
				for _, f := range files {
					p, err := w.Divide(ctx, plan, f)
					if err != nil {
						return err
					}
					packs = append(packs, p)
				}
				return c.do(ctx, &w, plan, packs)
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v; want %s", err, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
	s := Sharding{Data: newLog(3, 6).in(t, 1), Dir: filepath.Join(t.TempDir(), "out"), Shards: 50, Options: trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero}}
	if _, err := s.Spread(t.Context(), byWorkers(t)); !errors.Is(err, ErrShard) || !strings.Contains(fmt.Sprint(err), "one would hold nobody") {
		t.Errorf("more shards than persons: %v", err)
	}
}
