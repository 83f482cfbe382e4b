package train_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/train"
)

func ledgerWallet(t testing.TB, path string, budget float64, run string) *train.LedgerWallet {
	t.Helper()
	return train.NewLedgerStore(path).Wallet("agent 1", dp.Budget{Epsilon: budget}, run)
}

// TestLedgerWalletOutlivesItsProcess makes a new wallet on the same store for every
// use, as a device does that was switched off in between.
func TestLedgerWalletOutlivesItsProcess(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "agents.db")
	event := dp.ApproximateDP{Epsilon: 1}
	report := []byte("the report")
	for name, run := range map[string]string{"first run": "a", "second run": "b"} {
		w := ledgerWallet(t, path, 2, run)
		receipt, kept, err := w.Debit(ctx, 7, event)
		if err != nil || kept != nil || !receipt.Charged() {
			t.Fatalf("%s: %v, kept %q; want a receipt that was charged", name, err, kept)
		}
		if err := receipt.Redeem(dp.ReplaceOne, event); err != nil {
			t.Fatal(err)
		}
		if err := w.Keep(ctx, 7, receipt, report); err != nil {
			t.Fatal(err)
		}
		receipt, kept, err = ledgerWallet(t, path, 2, run).Debit(ctx, 7, event)
		if err != nil || receipt != nil || !bytes.Equal(kept, report) {
			t.Errorf("%s: retry: %v, %q; want the report that was kept", name, err, kept)
		}
	}
	w := ledgerWallet(t, path, 2, "a")
	if _, _, err := w.Debit(ctx, 8, event); !errors.Is(err, train.ErrBudget) {
		t.Errorf("third debit of 1 from a budget of 2: %v; want ErrBudget", err)
	}
	if b, err := ledgerWallet(t, path, 2, "a").Spent(ctx); err != nil || b.Epsilon != 2 {
		t.Errorf("spent %v, %v; want 2", b, err)
	}
}

func TestLedgerWalletForfeitsWhatWasNotKept(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "agents.db")
	event := dp.ApproximateDP{Epsilon: 1}
	if _, _, err := ledgerWallet(t, path, 2, "a").Debit(ctx, 7, event); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ledgerWallet(t, path, 2, "a").Debit(ctx, 7, event); !errors.Is(err, train.ErrForfeited) {
		t.Errorf("a debit without a report: %v; want ErrForfeited", err)
	}
}

// TestRunOnLedgersResumes interrupts a run whose agents keep their budgets in a
// store, and takes it up with new wallets.
func TestRunOnLedgersResumes(t *testing.T) {
	make := func(dir string, threads int) train.Config {
		c := ours(4, train.SignPRS, 1, 24)
		s := train.NewLedgerStore(filepath.Join(dir, "agents.db"))
		c.Terms.Buffer, c.Agents, c.Budget, c.Workers, c.Threads = 3, 12, 2, 4, threads
		c.Wallet = func(agent uint64) (train.Wallet, error) {
			return s.Wallet(fmt.Sprintf("agent %d", agent), dp.Budget{Epsilon: 2}, "run"), nil
		}
		return c
	}
	want := run(t, make(t.TempDir(), 1))
	if want.Epsilon != 2 || want.Accepted != 24 {
		t.Fatalf("%+v", want)
	}
	dir := t.TempDir()
	for round := 0; ; round++ {
		c := make(dir, 2)
		c.Journal = must2(train.OpenJournal(filepath.Join(dir, "run")))(t)
		c.Progress = func(p train.Progress) bool { return p.Accepted%7 != 0 }
		got := run(t, c)
		if err := c.Journal.Close(); err != nil {
			t.Fatal(err)
		}
		if got.Done {
			same(t, "on ledgers", got, want)
			return
		}
		if round > 5 {
			t.Fatal("the run does not end")
		}
	}
}

// TestManyAgentsShareAStore lets 8 goroutines open, debit and close wallets.
func TestManyAgentsShareAStore(t *testing.T) {
	c := ours(4, train.SignPRS, 1, 60)
	s := train.NewLedgerStore(filepath.Join(t.TempDir(), "agents.db"))
	c.Wallet = func(agent uint64) (train.Wallet, error) {
		return s.Wallet(fmt.Sprintf("agent %d", agent), dp.Budget{Epsilon: 1}, "run"), nil
	}
	c.Workers, c.Threads = 16, 8
	if r := run(t, c); r.Accepted != 60 || r.Declined != 0 {
		t.Errorf("%+v, %d declined", r.Status, r.Declined)
	}
}

func BenchmarkLedgerWallet(b *testing.B) {
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "agents.db")
	event := dp.ApproximateDP{Epsilon: 1}
	s := train.NewLedgerStore(path)
	for i := range b.N {
		w := s.Wallet(fmt.Sprintf("agent %d", i), dp.Budget{Epsilon: 2}, "a")
		receipt, _, err := w.Debit(ctx, 7, event)
		if err != nil {
			b.Fatal(err)
		}
		if err := receipt.Redeem(dp.ReplaceOne, event); err != nil {
			b.Fatal(err)
		}
		if err := w.Keep(ctx, 7, receipt, []byte("report")); err != nil {
			b.Fatal(err)
		}
	}
}
