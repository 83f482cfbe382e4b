package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/rl/sim"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/train/ledgerwallet"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// refusing is a wallet that refuses the slots of a set.
type refusing struct {
	train.Wallet
	slots map[uint64]error
}

func (w refusing) Debit(ctx context.Context, slot uint64, e dp.Event) (*receipt.Receipt, []byte, error) {
	if err := w.slots[slot]; err != nil {
		return nil, nil, err
	}
	return w.Wallet.Debit(ctx, slot, e)
}

// TestForfeitedSlotsAreLeftOut also where every report is a fresh agent's, and with
// evaluating agents: the run goes on with the others.
func TestForfeitedSlotsAreLeftOut(t *testing.T) {
	const e = simulate.FirstEvaluator
	for _, agents := range []uint64{0, 40} {
		c := ours(1, train.SignPRS, 1, 100)
		c.Agents, c.Budget = agents, 5
		c.Success = &simulate.Success{Every: 20, Agents: 4, Epsilon: 1, Threshold: 100}
		slots := map[uint64]error{7: train.ErrForfeited, 8: train.ErrForfeited, 9: train.ErrBudget,
			e + 3: train.ErrForfeited, e + 4: train.ErrForfeited, e + 5: train.ErrBudget, e + 6: train.ErrForfeited, e + 7: train.ErrForfeited}
		wallets := map[uint64]train.Wallet{}
		c.Threads = 1
		c.Wallet = func(agent uint64) (train.Wallet, error) {
			w, err := train.NewMemoryWallet(dp.Budget{Epsilon: 5})
			if wallets[agent] == nil {
				wallets[agent] = refusing{w, slots}
			}
			return wallets[agent], err
		}
		r := run(t, c)
		if r.Accepted != 100 || r.Forfeited != 2 || r.Declined != 1 || r.Issued != 103 {
			t.Errorf("%d agents: %+v, %d forfeited, %d declined", agents, r.Status, r.Forfeited, r.Declined)
		}
		// Randomised response at epsilon 1 has slope (e-1)/(e+1).
		slope := (math.E - 1) / (math.E + 1)
		for i, n := range []int{3, 0, 4, 4, 4} {
			want := .5
			if n > 0 {
				want = 1 / (2 * slope * math.Sqrt(float64(n)))
			}
			if got := r.Success[i]; got.Agents != n || math.Abs(got.StdError-want) > 1e-9 {
				t.Errorf("evaluation %d: %+v; want %d answers, standard error %v", i, got, n, want)
			}
		}
	}
}

// TestRunWithoutBudgetEnds on fresh agents as well, and leaves what it has.
func TestRunWithoutBudgetEnds(t *testing.T) {
	for _, agents := range []uint64{0, 10} {
		c := ours(1, train.SignPRS, 1, 300)
		c.Agents = agents
		n := 0
		c.Wallet = func(uint64) (train.Wallet, error) {
			b := dp.Budget{Epsilon: 1}
			if n++; n > 10 {
				b.Epsilon = .5
			}
			return train.NewMemoryWallet(b)
		}
		dir := t.TempDir()
		for range 2 { // the second time what is left is known at once
			c.Journal = must2(simulate.OpenJournal(dir))(t)
			r, err := simulate.Run(context.Background(), c)
			if e := c.Journal.Close(); e != nil {
				t.Fatal(e)
			}
			if !errors.Is(err, train.ErrBudget) || r == nil || r.Accepted != 10 {
				t.Fatalf("%d agents: %v, %+v; want ErrBudget after 10", agents, err, r)
			}
		}
	}
}

// TestEpsilonCountsEarlierRuns on the same ledgers.
func TestEpsilonCountsEarlierRuns(t *testing.T) {
	s := ledgerwallet.NewStore(filepath.Join(t.TempDir(), "agents.db"))
	for i := range 3 {
		c := ours(uint64(i), train.SignPRS, 1, 5)
		c.Budget = 8
		c.Wallet = func(agent uint64) (train.Wallet, error) {
			return s.Wallet(fmt.Sprint(agent), dp.Budget{Epsilon: 8}, fmt.Sprint("run ", i)), nil
		}
		if r := run(t, c); r.Epsilon != float64(i+1) {
			t.Errorf("run %d: epsilon %v; each agent spent %d", i, r.Epsilon, i+1)
		}
	}
}

// crashing is an environment in which the process ends in the n-th episode of all.
type crashing struct {
	sim.Env
	left *int
}

func (e crashing) Reset(obs []float64, rng *rand.Rand) {
	*e.left--
	e.Env.Reset(obs, rng)
}

func (e crashing) Step(obs []float64, action int) (sim.Outcome, error) {
	if *e.left == 0 {
		panic(errCrash)
	}
	return e.Env.Step(obs, action)
}

var errCrash = errors.New("power cut")

// TestACrashInTrainingForfeitsNothing: agents debit their budgets when they have
// something to report, so a process that ends while one trains, or plays to tell of its
// success, leaves that one's budget as it was.
func TestACrashInTrainingForfeitsNothing(t *testing.T) {
	// Of three reports the third is at work; then the one evaluating agent is.
	for name, crash := range map[string]struct {
		episode int
		agent   uint64
	}{"training": {3, 2}, "evaluation": {4, simulate.FirstEvaluator}} {
		wallets := map[uint64]train.Wallet{}
		try := func(episode int) (r *simulate.Result) {
			c := ours(1, train.SignPRS, 1, 3)
			c.Threads, c.Agents = 1, 3
			c.Success = &simulate.Success{Every: 3, Agents: 1, Epsilon: 1, Threshold: 10}
			c.Wallet = func(agent uint64) (w train.Wallet, err error) {
				if wallets[agent] == nil {
					wallets[agent], err = train.NewMemoryWallet(dp.Budget{Epsilon: 1})
				}
				return wallets[agent], err
			}
			healthy := poles()[0].New
			c.Environments = []simulate.Environment{{Name: "a pole", New: func() (sim.Env, error) {
				env, err := healthy()
				return crashing{env, &episode}, err
			}}}
			defer func() {
				if e := recover(); e != nil && e != errCrash {
					panic(e)
				}
			}()
			return run(t, c)
		}
		if r := try(crash.episode); r != nil {
			t.Fatalf("%s: the run ended with %+v; want a crash", name, r)
		}
		if b := must2(wallets[crash.agent].Spent(context.Background()))(t); b.Epsilon != 0 {
			t.Errorf("%s: epsilon %v is spent on what was never reported", name, b.Epsilon)
		}
		// Seeded alike, the next process has the same tasks.
		if r := try(-1); r == nil || r.Accepted != 3 || r.Forfeited != 0 || r.Declined != 0 || r.Success[0].Agents != 1 {
			t.Errorf("%s: after the crash: %+v; want all reports and an answer", name, r)
		}
	}
}
