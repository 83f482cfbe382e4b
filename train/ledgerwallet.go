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

// LedgerWallet keeps an agent's budget in a ledger of its own, a dataset of a
// store. Its debits are durable before noise is drawn. The ledger is open from a
// debit to the keeping of its report, so that many agents may share one store.
type LedgerWallet struct {
	// Location is the path of a SQLite file or a postgres:// URL.
	Location string
	// Agent names the dataset; it is made when it is not there.
	Agent string
	// Budget is what all reports of the agent, in all runs, may come to. It counts
	// when the dataset is made.
	Budget dp.Budget
	// Run keeps the slots of different runs apart.
	Run string

	mu    sync.Mutex
	open  *ledger.Ledger
	spent *dp.Budget // as of the last debit of this wallet
}

// ledgerName is who debits an agent's ledger.
const ledgerName = "discreet train"

// Debit implements [Wallet].
func (w *LedgerWallet) Debit(ctx context.Context, slot uint64, event dp.Event) (*ledger.Receipt, []byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, err := w.ledger(ctx)
	if err != nil {
		return nil, nil, err
	}
	grant, err := l.Charge(ctx, ledger.Charge{
		Key: fmt.Sprintf("%s slot %d", w.Run, slot), Analyst: ledgerName, Purpose: "training report",
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
	w.mu.Lock()
	defer w.mu.Unlock()
	l, err := w.ledger(ctx)
	if err != nil {
		return err
	}
	return errors.Join(l.Record(ctx, receipt, report), w.close(ctx))
}

// Spent implements [Wallet].
func (w *LedgerWallet) Spent(ctx context.Context) (dp.Budget, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
	l, err := ledger.Open(ctx, w.Location, w.Agent)
	if errors.Is(err, ledger.ErrNoDataset) || errors.Is(err, ledger.ErrNotLedger) {
		l, err = ledger.Create(ctx, w.Location, ledger.Config{
			Dataset: w.Agent, Unit: "agent", Adjacency: dp.ReplaceOne, Budget: w.Budget, Rule: account.Basic,
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
