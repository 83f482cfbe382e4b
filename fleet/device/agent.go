package device

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/train/ledgerwallet"
	"github.com/discreet-rl/discreet/train"
)

// Agent is a device. Its methods are for one goroutine, but Certificate, which any may call.
type Agent struct {
	cfg         Config
	store       *store
	wallets     *ledgerwallet.Store
	source      *noise.Source // nil while noise comes from the configuration
	certificate atomic.Pointer[tls.Certificate]
	pseudonym   [32]byte
	machine     []byte        // to which the state is bound
	idle        chan struct{} // of the last call of the learner; closed when it has returned
	crash       func(point string) error
}

// walletName is the dataset of the device's ledger.
const walletName = "device"

// Open opens the device's state, or begins it. One process at a time has it.
func Open(ctx context.Context, c Config) (*Agent, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.BackOff == 0 {
		c.BackOff = defaultBackOff
	}
	if c.MostBackOff == 0 {
		c.MostBackOff = max(defaultMostBackOff, c.BackOff)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	s, err := openStore(ctx, filepath.Join(c.Dir, "state.db"))
	if err != nil {
		return nil, err
	}
	a := &Agent{cfg: c, store: s, wallets: ledgerwallet.NewStore(filepath.Join(c.Dir, "wallet.db")), crash: func(string) error { return nil }}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return a, nil
}

func (a *Agent) prepare(ctx context.Context) (err error) {
	if a.cfg.Noise == nil {
		if a.source, err = noise.NewSource(); err != nil {
			return err
		}
	}
	if err := a.bind(ctx); err != nil {
		return err
	}
	if err := a.load(ctx); err != nil {
		return err
	}
	return a.openWallet(ctx)
}

// openWallet makes the wallet of a new device, and finds that of an old one as it was left, or later.
func (a *Agent) openWallet(ctx context.Context) error {
	id, err := a.store.identity(ctx)
	if err != nil {
		return err
	}
	if id == nil {
		if id, err = a.newIdentity(ctx); err != nil {
			return err
		}
	}
	var w *ledgerwallet.Wallet
	if id.wallet {
		w = a.wallets.Enrolled(walletName, a.budget(), "")
	} else {
		w = a.wallets.Wallet(walletName, a.budget(), "")
	}
	spent, err := w.Spent(ctx)
	if errors.Is(err, ledgerwallet.ErrGone) {
		return fmt.Errorf("%w: %w", ErrWallet, err)
	}
	if err != nil {
		return err
	}
	if spent.Epsilon < id.debited {
		return fmt.Errorf("%w: wallet.db says that epsilon %v was spent, and it was %v at least; put the latest copy back: what was spent is not forgotten with the file", ErrWallet, spent.Epsilon, id.debited)
	}
	if !id.wallet {
		return a.store.walletMade(ctx)
	}
	return nil
}

func (a *Agent) budget() dp.Budget { return dp.Budget{Epsilon: a.cfg.Epsilon} }

func (a *Agent) wallet(run train.RunID) *ledgerwallet.Wallet {
	return a.wallets.Enrolled(walletName, a.budget(), fmt.Sprintf("run %x", run))
}

// Spent is what the device has spent, in all runs.
func (a *Agent) Spent(ctx context.Context) (dp.Budget, error) {
	return a.wallets.Enrolled(walletName, a.budget(), "").Spent(ctx)
}

// Budget is what the device may spend in all runs: what its wallet allows, which may be less than the configuration says.
func (a *Agent) Budget(ctx context.Context) (dp.Budget, error) {
	return a.wallets.Enrolled(walletName, a.budget(), "").Budget(ctx)
}

// Close ends the agent's use of its directory.
func (a *Agent) Close() error { return a.store.db.Close() }
