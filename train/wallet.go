package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Wallet is an agent's own budget and the reports that it paid for. What it holds
// is the agent's alone.
//
// An agent debits it when it has what it wants to report, draws its noise, keeps the
// report and only then sends it. So a report that left was paid for, and can be sent
// again byte by byte. Where the agent stopped between debit and keeping, the slot is forfeited: it was paid for
// and is never answered.
type Wallet interface {
	// Debit spends the event for a slot, durably, and returns the right to draw
	// noise once. Where the slot was answered before it spends nothing and returns
	// the report that was kept instead, and no receipt. When the budget does not
	// cover the event, the error wraps [ErrBudget]; where the slot was debited and
	// no report kept, [ErrForfeited].
	Debit(ctx context.Context, slot uint64, event dp.Event) (paid *receipt.Receipt, kept []byte, err error)
	// Keep stores, durably and before it is sent, the report that was made under a
	// redeemed receipt.
	Keep(ctx context.Context, slot uint64, paid *receipt.Receipt, report []byte) error
	// Spent is what the debits so far come to.
	Spent(ctx context.Context) (dp.Budget, error)
}

// Sentinel errors of wallets. An agent that meets one does not report.
var (
	// ErrBudget marks a debit that the budget does not cover.
	ErrBudget = fault.Refused("the agent's budget is used up")
	// ErrForfeited marks a slot that was paid for and never answered.
	ErrForfeited = errors.New("slot forfeited")
)

// MemoryWallet is a wallet that lasts as long as the process: for simulations.
type MemoryWallet struct {
	mu      sync.Mutex
	filter  *account.Filter
	reports []keptReport
}

type keptReport struct {
	slot   uint64
	report []byte // nil until kept
}

// NewMemoryWallet returns a wallet for one agent. Debits add up (the rule
// account.Basic), under replace-one adjacency: the agent's whole data is the
// record.
func NewMemoryWallet(budget dp.Budget) (*MemoryWallet, error) {
	f, err := account.NewFilter(dp.ReplaceOne, budget, account.Basic, account.FilterOptions{})
	return &MemoryWallet{filter: f}, err
}

func (w *MemoryWallet) find(slot uint64) *keptReport {
	for i := range w.reports {
		if w.reports[i].slot == slot {
			return &w.reports[i]
		}
	}
	return nil
}

// Debit implements [Wallet].
func (w *MemoryWallet) Debit(ctx context.Context, slot uint64, event dp.Event) (*receipt.Receipt, []byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch k := w.find(slot); {
	case k != nil && k.report != nil:
		return nil, slices.Clone(k.report), nil
	case k != nil:
		return nil, nil, fmt.Errorf("%w: slot %d was debited and no report kept", ErrForfeited, slot)
	}
	if err := w.filter.Charge(ctx, event); errors.Is(err, account.ErrExhausted) {
		return nil, nil, fmt.Errorf("%w: %w", ErrBudget, err)
	} else if err != nil {
		return nil, nil, err
	}
	w.reports = append(w.reports, keptReport{slot: slot})
	return receipt.None(), nil, nil
}

// Keep implements [Wallet].
func (w *MemoryWallet) Keep(_ context.Context, slot uint64, _ *receipt.Receipt, report []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.find(slot)
	if k == nil || k.report != nil {
		return fmt.Errorf("%w: slot %d was not debited, or has a report", ErrForfeited, slot)
	}
	k.report = slices.Clone(report)
	return nil
}

// Spent implements [Wallet].
func (w *MemoryWallet) Spent(context.Context) (dp.Budget, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.filter.Spent()
}

// Share is the epsilon of one of T reports so that all of them, added up with
// rounding upward, stay within the total.
func Share(total float64, reports int) float64 {
	if reports <= 1 {
		return total
	}
	// Each addition rounds up by at most 2^-52 of the total.
	return xmath.MulDown(xmath.DivDown(total, float64(reports)), 1-float64(reports)*0x1p-50)
}
