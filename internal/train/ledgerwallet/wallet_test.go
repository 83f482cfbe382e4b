package ledgerwallet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/train/ledgerwallet"
	"github.com/discreet-rl/discreet/train"
)

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func ledgerWallet(t testing.TB, path string, budget float64, run string) *ledgerwallet.Wallet {
	t.Helper()
	return ledgerwallet.NewStore(path).Wallet("agent 1", dp.Budget{Epsilon: budget}, run)
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

// TestWalletsAreNotMadeAgain takes the file, or one agent's ledger, away.
func TestWalletsAreNotMadeAgain(t *testing.T) {
	ctx, event := context.Background(), dp.ApproximateDP{Epsilon: 1}
	path := filepath.Join(t.TempDir(), "agents.db")
	s := ledgerwallet.NewStore(path)
	if _, _, err := s.Wallet("1", dp.Budget{Epsilon: 1}, "a").Debit(ctx, 0, event); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Enrolled("2", dp.Budget{Epsilon: 1}, "a").Debit(ctx, 0, event); !errors.Is(err, ledgerwallet.ErrGone) {
		t.Errorf("an agent that was never enrolled: %v; want ErrWalletGone", err)
	}
	for _, f := range glob(t, path+"*") {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	again := ledgerwallet.NewStore(path)
	again.Existing()
	for name, w := range map[string]*ledgerwallet.Wallet{
		"the same store":            s.Wallet("1", dp.Budget{Epsilon: 1}, "a"),
		"another agent of it":       s.Wallet("3", dp.Budget{Epsilon: 1}, "a"),
		"a store said to be there":  again.Wallet("1", dp.Budget{Epsilon: 1}, "a"),
		"an agent said to be there": ledgerwallet.NewStore(path).Enrolled("1", dp.Budget{Epsilon: 1}, "a"),
	} {
		if _, _, err := w.Debit(ctx, 0, event); !errors.Is(err, ledgerwallet.ErrGone) || errors.Is(err, train.ErrBudget) {
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

// TestRunsMayBeginOnOneNewStore at the same time.
func TestRunsMayBeginOnOneNewStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents.db")
	errs := make(chan error)
	for i := range 4 {
		go func() {
			w := ledgerwallet.NewStore(path).Wallet("1", dp.Budget{Epsilon: 4}, fmt.Sprint("run ", i))
			receipt, _, err := w.Debit(context.Background(), 0, dp.ApproximateDP{Epsilon: 1})
			if err == nil {
				err = receipt.Redeem(dp.ReplaceOne, dp.ApproximateDP{Epsilon: 1})
			}
			if err == nil {
				err = w.Keep(context.Background(), 0, receipt, []byte("report"))
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

func BenchmarkLedgerWallet(b *testing.B) {
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "agents.db")
	event := dp.ApproximateDP{Epsilon: 1}
	s := ledgerwallet.NewStore(path)
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
