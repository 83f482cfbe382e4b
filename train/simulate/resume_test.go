package simulate_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// same holds two results against each other, bit for bit.
func same(t *testing.T, name string, got, want *simulate.Result) {
	t.Helper()
	bits := cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	if d := cmp.Diff(want, got, bits, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s: (-want +got)\n%.2000s", name, d)
	}
}

func run(t testing.TB, c simulate.Config) *simulate.Result {
	t.Helper()
	r, err := simulate.Run(context.Background(), c)
	return must(t, r, err)
}

// fleet has everything that a state can hold: agents who report several times,
// stale reports, a growing buffer, evaluations.
func fleet(threads int) simulate.Config {
	c := ours(3, train.SignPRS, 1, 400)
	c.Terms.Staleness = 5
	c.Terms.Buffer = 3
	c.Terms.Influence = train.Influence{Norm: 1}
	c.Workers = 12
	c.Agents, c.Budget = 230, 2
	c.Success = &simulate.Success{Every: 150, Agents: 20, Epsilon: 2, Threshold: 30}
	c.Threads = threads
	return c
}

// saved gives agents wallets that outlive a run, as those on disk do. Every
// seventh agent has budget for one report only, so that some are declined.
func saved(c simulate.Config) simulate.Config {
	var mu sync.Mutex
	wallets := map[uint64]train.Wallet{}
	c.Wallet = func(agent uint64) (train.Wallet, error) {
		mu.Lock()
		defer mu.Unlock()
		w, ok := wallets[agent]
		if !ok {
			b := dp.Budget{Epsilon: 2}
			if agent%7 == 0 && agent < simulate.FirstEvaluator {
				b.Epsilon = 1
			}
			made, err := train.NewMemoryWallet(b)
			if err != nil {
				return nil, err
			}
			w, wallets[agent] = made, made
		}
		return w, nil
	}
	c.Agents = 260
	return c
}

func TestThreadsDoNotChangeTheResult(t *testing.T) {
	for _, schedule := range []string{"uniform", "in-turn", "fastest"} {
		c := fleet(1)
		c.Schedule = schedule
		want := run(t, saved(c))
		if want.Counts.Of(train.Stale) == 0 && schedule != "in-turn" || want.Declined == 0 {
			t.Fatalf("%s: nothing stale or declined: the test says less than it should: %+v", schedule, want.Status)
		}
		for _, threads := range []int{2, 5} {
			c.Threads = threads
			same(t, string(schedule), run(t, saved(c)), want)
		}
	}
}

// TestThreadsDoNotDecideWhoIsPaid lets agents have several tasks at a time and
// budget for fewer: which of them they answer follows from the order of launch,
// with any number of threads, interrupted or killed.
func TestThreadsDoNotDecideWhoIsPaid(t *testing.T) {
	poor := func(threads int, s string) simulate.Config {
		c := ours(3, train.SignPRS, 1, 200)
		c.Agents, c.Workers, c.Threads, c.Budget, c.Schedule = 4, 16, threads, 20, s
		return c
	}
	for _, s := range []string{"uniform", "in-turn", "fastest"} {
		want, err := simulate.Run(context.Background(), poor(1, s))
		if !errors.Is(err, train.ErrBudget) || want.Accepted != 80 || want.Declined == 0 {
			t.Fatalf("%s: %v, %+v; want ErrBudget after 80", s, err, want)
		}
		for _, threads := range []int{2, 5} {
			got, err := simulate.Run(context.Background(), poor(threads, s))
			if !errors.Is(err, train.ErrBudget) {
				t.Errorf("%s: %v; want ErrBudget", s, err)
			}
			same(t, string(s), got, want)
		}
		if s == "fastest" {
			continue
		}
		for _, threads := range []int{1, 3} {
			for _, at := range []uint64{33, 79} {
				dir := t.TempDir()
				c := poor(threads, s)
				c.Progress = func(p simulate.Progress) bool { return p.Accepted < at/2 }
				must2(inDir(t, dir, c))(t)
				early := must2(os.ReadFile(filepath.Join(dir, "snapshot.json")))(t)
				c.Progress = func(p simulate.Progress) bool { return p.Accepted < at }
				must2(inDir(t, dir, c))(t)
				if err := os.WriteFile(filepath.Join(dir, "snapshot.json"), early, 0o600); err != nil {
					t.Fatal(err)
				}
				c.Progress = nil
				got, err := inDir(t, dir, c)
				if !errors.Is(err, train.ErrBudget) {
					t.Errorf("%s: %v; want ErrBudget", s, err)
				}
				same(t, string(s)+", killed", got, want)
			}
		}
	}
}

// interrupted runs in a journal, stopping after every few reports; between, the
// directory is changed by meddle.
func interrupted(t *testing.T, c simulate.Config, meddle func(dir string, round int)) *simulate.Result {
	t.Helper()
	dir := t.TempDir()
	for round := 0; ; round++ {
		c := c
		c.Journal = must2(simulate.OpenJournal(dir))(t)
		ctx, cancel := context.WithCancel(context.Background())
		left := 37 + round
		c.Progress = func(simulate.Progress) bool {
			if left--; left == 0 && round%2 == 0 {
				cancel()
			}
			return left > 0 || round%2 == 0
		}
		r, err := simulate.Run(ctx, c)
		cancel()
		if e := c.Journal.Close(); e != nil {
			t.Fatal(e)
		}
		if r.Done {
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		meddle(dir, round)
	}
}

func must2[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T { return must(t, v, err) }
}

func TestInterruptedRunEndsAsUninterrupted(t *testing.T) {
	want, wantSaved := run(t, fleet(1)), run(t, saved(fleet(1)))
	for _, threads := range []int{1, 3} {
		same(t, "interrupted", interrupted(t, fleet(threads), func(string, int) {}), want)
		same(t, "interrupted, wallets saved", interrupted(t, saved(fleet(threads)), func(string, int) {}), wantSaved)
	}
}

// TestKilledRunEndsAsUninterrupted puts back what a process that was killed would
// have left: the snapshot of an earlier moment, and a log that breaks off anywhere.
func TestKilledRunEndsAsUninterrupted(t *testing.T) {
	for name, c := range map[string]simulate.Config{"memory": fleet(2), "saved": saved(fleet(2))} {
		alone := fleet(1)
		if name == "saved" {
			alone = saved(alone)
		}
		var old []byte
		got := interrupted(t, c, func(dir string, round int) {
			snapshot, log := filepath.Join(dir, "snapshot.json"), filepath.Join(dir, "reports.log")
			now := must2(os.ReadFile(snapshot))(t)
			if round%3 == 1 { // the log is ahead of the snapshot
				if err := os.WriteFile(snapshot, old, 0o600); err != nil {
					t.Fatal(err)
				}
				size := must2(os.Stat(log))(t).Size()
				if err := os.Truncate(log, size-int64(round*7%40)); err != nil {
					t.Fatal(err)
				}
			}
			old = now
		})
		same(t, name, got, run(t, alone))
	}
}

func TestJournalOfAnotherRunIsRefused(t *testing.T) {
	dir := t.TempDir()
	c := fleet(1)
	c.Journal = must2(simulate.OpenJournal(dir))(t)
	run(t, c)
	if err := c.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*simulate.Config){
		"seed":       func(c *simulate.Config) { c.Seed++ },
		"epsilon":    func(c *simulate.Config) { c.Terms.Randomizer.Epsilon = .5 },
		"step":       func(c *simulate.Config) { c.Terms.Optimizer.Step = .1 },
		"network":    func(c *simulate.Config) { c.Local.Network.Hidden = []int{15} },
		"discount":   func(c *simulate.Config) { c.Local.PolicyGradient.Gamma = .5 },
		"world":      func(c *simulate.Config) { c.Environments = c.Environments[:2] },
		"evaluation": func(c *simulate.Config) { c.Success.Agents++ },
	} {
		c := fleet(1)
		change(&c)
		c.Journal = must2(simulate.OpenJournal(dir))(t)
		if _, err := simulate.Run(context.Background(), c); !errors.Is(err, train.ErrState) {
			t.Errorf("another %s: %v; want ErrState", name, err)
		}
		if err := c.Journal.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, spoil := range map[string]func() error{
		"snapshot": func() error { return flip(filepath.Join(dir, "snapshot.json"), 200) },
		"log":      func() error { return flip(filepath.Join(dir, "reports.log"), 30) },
	} {
		keep := must2(os.ReadFile(filepath.Join(dir, "snapshot.json")))(t)
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		c := fleet(1)
		c.Journal = must2(simulate.OpenJournal(dir))(t)
		if _, err := simulate.Run(context.Background(), c); !errors.Is(err, train.ErrState) {
			t.Errorf("spoilt %s: %v; want ErrState", name, err)
		}
		if err := c.Journal.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "snapshot.json"), keep, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func flip(path string, at int) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[at] ^= 4
	return os.WriteFile(path, b, 0o600)
}
