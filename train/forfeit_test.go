package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/train"
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
	const e = train.FirstEvaluator
	for _, agents := range []uint64{0, 40} {
		c := ours(1, train.SignPRS, 1, 100)
		c.Agents, c.Budget = agents, 5
		c.Success = &train.Success{Every: 20, Agents: 4, Epsilon: 1, Threshold: 100}
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
			c.Journal = must2(train.OpenJournal(dir))(t)
			r, err := train.Train(context.Background(), c)
			if e := c.Journal.Close(); e != nil {
				t.Fatal(e)
			}
			if !errors.Is(err, train.ErrBudget) || r == nil || r.Accepted != 10 {
				t.Fatalf("%d agents: %v, %+v; want ErrBudget after 10", agents, err, r)
			}
		}
	}
}

// TestWalletsAreNotMadeAgain takes the file, or one agent's ledger, away.
func TestWalletsAreNotMadeAgain(t *testing.T) {
	ctx, event := context.Background(), dp.ApproximateDP{Epsilon: 1}
	path := filepath.Join(t.TempDir(), "agents.db")
	s := train.NewLedgerStore(path)
	if _, _, err := s.Wallet("1", dp.Budget{Epsilon: 1}, "a").Debit(ctx, 0, event); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Enrolled("2", dp.Budget{Epsilon: 1}, "a").Debit(ctx, 0, event); !errors.Is(err, train.ErrWalletGone) {
		t.Errorf("an agent that was never enrolled: %v; want ErrWalletGone", err)
	}
	for _, f := range must2(filepath.Glob(path + "*"))(t) {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	again := train.NewLedgerStore(path)
	again.Existing()
	for name, w := range map[string]*train.LedgerWallet{
		"the same store":            s.Wallet("1", dp.Budget{Epsilon: 1}, "a"),
		"another agent of it":       s.Wallet("3", dp.Budget{Epsilon: 1}, "a"),
		"a store said to be there":  again.Wallet("1", dp.Budget{Epsilon: 1}, "a"),
		"an agent said to be there": train.NewLedgerStore(path).Enrolled("1", dp.Budget{Epsilon: 1}, "a"),
	} {
		if _, _, err := w.Debit(ctx, 0, event); !errors.Is(err, train.ErrWalletGone) || errors.Is(err, train.ErrBudget) {
			t.Errorf("%s: %v; want ErrWalletGone", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s: the file was made again", name)
		}
	}
}

// TestLedgerOfAnotherBudgetIsNotObeyed where it allows more than was said.
func TestLedgerOfAnotherBudgetIsNotObeyed(t *testing.T) {
	ctx, event := context.Background(), dp.ApproximateDP{Epsilon: 1}
	path := filepath.Join(t.TempDir(), "agents.db")
	if _, _, err := ledgerWallet(t, path, 8, "a").Debit(ctx, 0, event); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ledgerWallet(t, path, 1, "b").Debit(ctx, 0, event); !errors.Is(err, train.ErrConfig) {
		t.Errorf("a ledger of 8 for a wallet of 1: %v; want ErrConfig", err)
	}
	if _, _, err := ledgerWallet(t, path, 9, "c").Debit(ctx, 0, event); err != nil {
		t.Errorf("a ledger of 8 for a wallet of 9: %v", err)
	}
}

// TestEpsilonCountsEarlierRuns on the same ledgers.
func TestEpsilonCountsEarlierRuns(t *testing.T) {
	s := train.NewLedgerStore(filepath.Join(t.TempDir(), "agents.db"))
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

// TestRunsMayBeginOnOneNewStore at the same time.
func TestRunsMayBeginOnOneNewStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents.db")
	errs := make(chan error)
	for i := range 4 {
		go func() {
			w := train.NewLedgerStore(path).Wallet("1", dp.Budget{Epsilon: 4}, fmt.Sprint("run ", i))
			paid, _, err := w.Debit(context.Background(), 0, dp.ApproximateDP{Epsilon: 1})
			if err == nil {
				err = paid.Redeem(dp.ReplaceOne, dp.ApproximateDP{Epsilon: 1})
			}
			if err == nil {
				err = w.Keep(context.Background(), 0, paid, []byte("report"))
			}
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
