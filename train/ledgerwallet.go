package train

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// ledgerName is who debits an agent's ledger.
const ledgerName = "discreet train"

// LedgerStore is where agents keep their budgets: a store of ledgers, with a
// dataset for each agent. It is safe for concurrent use.
type LedgerStore struct {
	location string
	mu       sync.Mutex // SQLite has one writer at a time; waiting here is fair
}

// NewLedgerStore names a store: the path of a SQLite file, which is made when it is
// not there, or a postgres:// URL.
func NewLedgerStore(location string) *LedgerStore { return &LedgerStore{location: location} }

// Wallet returns the wallet of an agent, whose name is that of its dataset. Budget
// is what all its reports, in all runs, may come to; it counts when the dataset is
// made. Run keeps the slots of different runs apart.
func (s *LedgerStore) Wallet(agent string, budget dp.Budget, run string) *LedgerWallet {
	return &LedgerWallet{store: s, agent: agent, budget: budget, run: run}
}

// LedgerWallet keeps an agent's budget in a ledger of its own. Its debits are
// durable before noise is drawn. The ledger is open from a debit to the keeping of
// its report.
type LedgerWallet struct {
	store      *LedgerStore
	agent, run string
	budget     dp.Budget

	open  *ledger.Ledger
	spent *dp.Budget // as of the last operation of this wallet
}

// Debit implements [Wallet].
func (w *LedgerWallet) Debit(ctx context.Context, slot uint64, event dp.Event) (*ledger.Receipt, []byte, error) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	l, err := w.ledger(ctx)
	if err != nil {
		return nil, nil, err
	}
	grant, err := l.Charge(ctx, ledger.Charge{
		Key: fmt.Sprintf("%s slot %d", w.run, slot), Analyst: ledgerName, Purpose: "training report",
		Event: event, Adjacency: dp.ReplaceOne, Unit: "agent",
	})
	if err == nil {
		return grant.Receipt, nil, nil
	}
	var recorded *ledger.RecordedError
	switch {
	case errors.As(err, &recorded):
		return nil, recorded.Release, w.close(ctx)
	case errors.Is(err, ledger.ErrBudget):
		err = fmt.Errorf("%w: %w", ErrBudget, err)
	case errors.Is(err, ledger.ErrPending):
		err = fmt.Errorf("%w: %w", ErrForfeited, err)
	}
	return nil, nil, errors.Join(err, w.close(ctx))
}

// Keep implements [Wallet].
func (w *LedgerWallet) Keep(ctx context.Context, _ uint64, receipt *ledger.Receipt, report []byte) error {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	l, err := w.ledger(ctx)
	if err != nil {
		return err
	}
	return errors.Join(l.Record(ctx, receipt, report), w.close(ctx))
}

// Spent implements [Wallet].
func (w *LedgerWallet) Spent(ctx context.Context) (dp.Budget, error) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	if w.spent == nil {
		if _, err := w.ledger(ctx); err != nil {
			return dp.Budget{}, err
		}
		if err := w.close(ctx); err != nil {
			return dp.Budget{}, err
		}
	}
	return *w.spent, nil
}

// ledger opens the agent's ledger, or makes it.
func (w *LedgerWallet) ledger(ctx context.Context) (*ledger.Ledger, error) {
	if w.open != nil {
		return w.open, nil
	}
	l, err := ledger.Open(ctx, w.store.location, w.agent)
	if errors.Is(err, ledger.ErrNoDataset) || errors.Is(err, ledger.ErrNotLedger) {
		l, err = ledger.Create(ctx, w.store.location, ledger.Config{
			Dataset: w.agent, Unit: "agent", Adjacency: dp.ReplaceOne, Budget: w.budget, Rule: account.Basic,
		})
	}
	w.open = l
	return l, err
}

// close notes what was spent and closes the ledger.
func (w *LedgerWallet) close(ctx context.Context) error {
	s, err := w.open.State(ctx)
	if err == nil {
		w.spent = &s.Spent
	}
	err = errors.Join(err, w.open.Close())
	w.open = nil
	return err
}
