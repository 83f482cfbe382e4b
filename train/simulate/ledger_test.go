package simulate_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/train/ledgerwallet"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// TestRunOnLedgersResumes interrupts a run whose agents keep their budgets in a
// store, and takes it up with new wallets.
func TestRunOnLedgersResumes(t *testing.T) {
	make := func(dir string, threads int) simulate.Config {
		c := ours(4, train.SignPRS, 1, 24)
		s := ledgerwallet.NewStore(filepath.Join(dir, "agents.db"))
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
		c.Journal = must2(simulate.OpenJournal(filepath.Join(dir, "run")))(t)
		c.Progress = func(p simulate.Progress) bool { return p.Accepted%7 != 0 }
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
	s := ledgerwallet.NewStore(filepath.Join(t.TempDir(), "agents.db"))
	c.Wallet = func(agent uint64) (train.Wallet, error) {
		return s.Wallet(fmt.Sprintf("agent %d", agent), dp.Budget{Epsilon: 1}, "run"), nil
	}
	c.Workers, c.Threads = 16, 8
	if r := run(t, c); r.Accepted != 60 || r.Declined != 0 {
		t.Errorf("%+v, %d declined", r.Status, r.Declined)
	}
}
