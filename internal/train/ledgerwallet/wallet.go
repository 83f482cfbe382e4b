package ledgerwallet

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/train"
)

// ErrGone marks a store, or a ledger in it, that was there before.
var ErrGone = errors.New("wallet is gone")

// ledgerName is who debits an agent's ledger.
const ledgerName = "discreet train"

// Store is where agents keep their budgets: a store of ledgers, with a
// dataset for each agent. It is safe for concurrent use.
//
// A ledger that is gone is not made again, for that would give its agent the whole
// budget back: once a store has found its file there, or a ledger in it, their
// absence is an error that wraps [ErrGone].
type Store struct {
	location string
	mu       sync.Mutex // SQLite has one writer at a time; waiting here is fair
	there    bool       // the store has been seen
	seen     map[string]struct{}
}

// NewStore names a store: the path of a SQLite file, which is made when it is
// not there, or a postgres:// URL.
func NewStore(location string) *Store {
	return &Store{location: location, seen: map[string]struct{}{}}
}

// Existing says that the store was used before, by another process say, so that it
// must not be made.
func (s *Store) Existing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there = true
}

// Wallet returns the wallet of an agent, whose name is that of its dataset; an
// agent without a ledger is enrolled by the first debit. Budget is what all its
// reports, in all runs, may come to: a ledger that allows more is refused with
// [train.ErrConfig], and one that allows less keeps to its own. Run keeps the slots of
// different runs apart.
func (s *Store) Wallet(agent string, budget dp.Budget, run string) *Wallet {
	return &Wallet{store: s, agent: agent, budget: budget, run: run}
}

// Enrolled is [Store.Wallet] for an agent that has a ledger already, as a
// device knows of itself: it is never made.
func (s *Store) Enrolled(agent string, budget dp.Budget, run string) *Wallet {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there = true
	s.seen[agent] = struct{}{}
	return s.Wallet(agent, budget, run)
}

// Wallet keeps an agent's budget in a ledger of its own. Its debits are
// durable before noise is drawn. The ledger is open from a debit to the keeping of
// its report.
type Wallet struct {
	store      *Store
	agent, run string
	budget     dp.Budget

	open    *ledger.Ledger
	checked bool       // its budget
	spent   *dp.Budget // as of the last operation of this wallet
	allowed dp.Budget  // what its ledger allows in all, as of then
}

// Debit implements [train.Wallet].
func (w *Wallet) Debit(ctx context.Context, slot uint64, event dp.Event) (*receipt.Receipt, []byte, error) {
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
		err = fmt.Errorf("%w: %w", train.ErrBudget, err)
	case errors.Is(err, ledger.ErrPending):
		err = fmt.Errorf("%w: %w", train.ErrForfeited, err)
	}
	return nil, nil, errors.Join(err, w.close(ctx))
}

// Keep implements [train.Wallet].
func (w *Wallet) Keep(ctx context.Context, _ uint64, paid *receipt.Receipt, report []byte) error {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	l, err := w.ledger(ctx)
	if err != nil {
		return err
	}
	return errors.Join(l.Record(ctx, paid, report), w.close(ctx))
}

// Spent implements [train.Wallet].
func (w *Wallet) Spent(ctx context.Context) (dp.Budget, error) {
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

// Budget is what the reports of the agent may come to in all: what its ledger says, which may be
// less than the wallet was given.
func (w *Wallet) Budget(ctx context.Context) (dp.Budget, error) {
	if _, err := w.Spent(ctx); err != nil {
		return dp.Budget{}, err
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return w.allowed, nil
}

// ledger opens the agent's ledger, or makes it where there never was one.
func (w *Wallet) ledger(ctx context.Context) (*ledger.Ledger, error) {
	if w.open != nil {
		return w.open, nil
	}
	s := w.store
	l, err := ledger.Open(ctx, s.location, w.agent)
	noStore, none := errors.Is(err, ledger.ErrNotLedger), errors.Is(err, ledger.ErrNoDataset)
	if _, seen := s.seen[w.agent]; seen && (noStore || none) || noStore && s.there {
		return nil, fmt.Errorf("%w: %s of %s was there and is not (%w); put back a copy: what the agent spent is not forgotten with the file", ErrGone, w.agent, s.location, err)
	}
	if noStore || none {
		l, err = ledger.Create(ctx, s.location, ledger.Config{
			Dataset: w.agent, Unit: "agent", Adjacency: dp.ReplaceOne, Budget: w.budget, Rule: account.Basic,
		})
		if errors.Is(err, ledger.ErrExists) { // another process was first
			l, err = ledger.Open(ctx, s.location, w.agent)
		}
	}
	if err == nil {
		err = w.limited(ctx, l)
	}
	if err != nil {
		return nil, err
	}
	s.there = true
	s.seen[w.agent] = struct{}{}
	w.open = l
	return l, nil
}

// limited closes and refuses a ledger that allows more than the wallet is to.
func (w *Wallet) limited(ctx context.Context, l *ledger.Ledger) error {
	if w.checked {
		return nil
	}
	s, err := l.State(ctx)
	if err == nil && (s.Budget.Epsilon > w.budget.Epsilon || s.Budget.Delta > w.budget.Delta) {
		err = fmt.Errorf("%w: the ledger of %s allows epsilon %v and delta %v in all, these settings epsilon %v and delta %v; set privacy.epsilon to the ledger's, or lower that (discreet ledger budget)",
			train.ErrConfig, w.agent, s.Budget.Epsilon, s.Budget.Delta, w.budget.Epsilon, w.budget.Delta)
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	w.checked = true
	return nil
}

// close notes what was spent and closes the ledger.
func (w *Wallet) close(ctx context.Context) error {
	s, err := w.open.State(ctx)
	if err == nil {
		w.spent, w.allowed = &s.Spent, s.Budget
	}
	err = errors.Join(err, w.open.Close())
	w.open = nil
	return err
}
