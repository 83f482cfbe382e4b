package train

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Wallet is an agent's own budget and the reports that it paid for. What it holds
// is the agent's alone.
//
// An agent debits it, draws its noise, keeps the report and only then sends it. So
// a report that left was paid for and can be sent again byte by byte; and where the
// agent stops between debit and keeping, nothing has left, and the same slot may be
// answered afresh under the debit that was made.
type Wallet interface {
	// Debit spends the event for a slot, durably. For a slot that was debited
	// before it spends nothing, and fails unless the event is the same. When the
	// budget does not cover the event, the error wraps [account.ErrExhausted].
	Debit(ctx context.Context, slot uint64, event dp.Event) (*ledger.Receipt, error)
	// Keep stores the report of a debited slot, durably, before it is sent.
	Keep(ctx context.Context, slot uint64, report []byte) error
	// Kept returns the report of a slot, and false if there is none.
	Kept(ctx context.Context, slot uint64) ([]byte, bool, error)
	// Spent is what the debits so far come to.
	Spent(ctx context.Context) (dp.Budget, error)
}

// MemoryWallet is a wallet that lasts as long as the process: for simulations.
type MemoryWallet struct {
	mu      sync.Mutex
	filter  *account.Filter
	slots   []uint64
	events  []dp.Event
	reports [][]byte // nil until kept
}

// NewMemoryWallet returns a wallet for one agent. Debits add up (the rule
// account.Basic), under replace-one adjacency: the agent's whole data is the
// record.
func NewMemoryWallet(budget dp.Budget) (*MemoryWallet, error) {
	f, err := account.NewFilter(dp.ReplaceOne, budget, account.Basic, account.FilterOptions{})
	return &MemoryWallet{filter: f}, err
}

// ErrWallet marks a wallet that is used out of order.
var ErrWallet = errors.New("wallet used out of order")

// Debit implements [Wallet].
func (w *MemoryWallet) Debit(_ context.Context, slot uint64, event dp.Event) (*ledger.Receipt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.slots, slot); i >= 0 {
		if !reflect.DeepEqual(w.events[i], event) {
			return nil, fmt.Errorf("%w: slot %d was debited for another event", ErrWallet, slot)
		}
		return ledger.None(), nil
	}
	if err := w.filter.Charge(event); err != nil {
		return nil, err
	}
	w.slots, w.events, w.reports = append(w.slots, slot), append(w.events, event), append(w.reports, nil)
	return ledger.None(), nil
}

// Keep implements [Wallet].
func (w *MemoryWallet) Keep(_ context.Context, slot uint64, report []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.slots, slot)
	if i < 0 || w.reports[i] != nil {
		return fmt.Errorf("%w: slot %d was not debited, or has a report", ErrWallet, slot)
	}
	w.reports[i] = slices.Clone(report)
	return nil
}

// Kept implements [Wallet].
func (w *MemoryWallet) Kept(_ context.Context, slot uint64) ([]byte, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.slots, slot); i >= 0 && w.reports[i] != nil {
		return w.reports[i], true, nil
	}
	return nil, false, nil
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
