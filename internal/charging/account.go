package charging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/buildinfo"
	"github.com/discreet-rl/discreet/internal/spec"
)

// unnamed is the analyst of a configuration that names none.
const unnamed = "unnamed"

// Open opens the ledger that a configuration names, nil where it names none.
func Open(ctx context.Context, c config.Config) (*ledger.Ledger, error) {
	if c.Ledger == nil {
		return nil, nil
	}
	return ledger.Open(ctx, c.LedgerLocation(), c.Ledger.Dataset)
}

// Account is an evaluation before the ledger of its dataset. It is not changed after it was
// made.
type Account struct {
	Ledger *ledger.Ledger
	Spec   *spec.Spec
	// Key is that of the charge. With Retry it is the caller's, and may have been charged
	// before.
	Key   string
	Retry bool
	// AsOf, if it is set, has [Account.Fits] answer from what was charged before a time, and
	// as if no check had failed.
	AsOf time.Time
	// Release is the file of a release that an earlier evaluation left; "" where none is
	// looked for. See [Account.Witnessed].
	Release string
	// Elsewhere tells that the data are no files that this process reaches: a charge then has
	// no fingerprint of them.
	Elsewhere bool
}

// charge is what the evaluation asks of the ledger under a version of the contract.
func (a *Account) charge(terms Terms, event dp.Event, fingerprint string) ledger.Charge {
	l, s := a.Spec.Config.Ledger, a.Spec
	c := ledger.Charge{
		Key: a.Key, Analyst: l.Analyst, Contract: terms.Version, Purpose: l.Purpose,
		Event: event, Adjacency: s.Public.Privacy.Adjacency, Unit: s.Public.Privacy.Unit.String(),
		CodeVersion: buildinfo.Version(), ConfigHash: s.Hash, Fingerprint: fingerprint, Delta: s.Public.Privacy.Budget.Delta,
	}
	if c.Analyst == "" {
		c.Analyst = unnamed
	}
	return c
}

// Fits asks the ledger whether it would take the charge of an event under a new key.
func (a *Account) Fits(ctx context.Context, terms Terms, event dp.Event) error {
	charge := a.charge(terms, event, "")
	charge.Key, charge.AsOf = "", a.AsOf
	return a.remedied(a.Ledger.Fits(ctx, charge))
}

// Recorded answers a retry without a look at the data: it is the [ledger.RecordedError]
// with the release that the key paid for, or what else is to be said of a key that was
// charged; nil if it never was.
func (a *Account) Recorded(ctx context.Context) error {
	if !a.Retry {
		return nil
	}
	paid, err := a.Ledger.ChargeOf(ctx, a.Key)
	if paid == nil || err != nil {
		return err
	}
	old := paid.Charge
	// A retry is matched by its configuration hash; event and data are those of the first
	// time.
	if err := a.Ledger.Fits(ctx, a.charge(Terms{}, old.Event, old.Fingerprint)); err != nil {
		return err
	}
	return fmt.Errorf("%w: key %s is that of a charge and not known as one; run discreet ledger verify", ledger.ErrTampered, a.Key)
}

// Witnessed takes a release that stands in the output directory for a witness of
// the ledger: what it says was the head of the chain must still be there. A
// release of another ledger, or of none, says nothing.
func (a *Account) Witnessed(ctx context.Context) error {
	if a.Release == "" {
		return nil
	}
	text, err := os.ReadFile(a.Release)
	if err != nil {
		return nil // whether it can be written over is asked elsewhere
	}
	stamp, err := ledger.StampOf(text)
	if err != nil || stamp.Ledger != a.Ledger.Opening().Ledger || stamp.Dataset != a.Ledger.Dataset() {
		return nil
	}
	for _, head := range []receipt.Head{stamp.Head, {Seq: stamp.Seq, Hash: stamp.Entry}} {
		err := a.Ledger.VerifyHead(ctx, head)
		if errors.Is(err, ledger.ErrBehind) || errors.Is(err, ledger.ErrTampered) {
			return fmt.Errorf("%w: %s was paid for by entry %d: %w; nothing is charged: bring back the newest copy of the ledger, or restore its newest backup", ledger.ErrWitness, a.Release, stamp.Seq, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Admit checks with the ledger, without a look at the data, that a run may start: that its
// key was not charged before, that no release contradicts the ledger, and that the
// contract allows the question.
func (a *Account) Admit(ctx context.Context) (Terms, error) {
	if err := a.Recorded(ctx); err != nil {
		return Terms{}, err
	}
	if err := a.Witnessed(ctx); err != nil {
		return Terms{}, err
	}
	return a.Contracted(ctx)
}

// Resume is the receipt of a charge that an earlier process made under the same key.
func (a *Account) Resume(ctx context.Context) (*receipt.Receipt, error) {
	known, err := a.Ledger.ChargeOf(ctx, a.Key)
	if err == nil && known == nil {
		err = fmt.Errorf("%w: the run directory is of key %s, which this ledger never charged", ledger.ErrBehind, a.Key)
	}
	if err != nil {
		return nil, err
	}
	old := known.Charge
	return a.Ledger.Resume(ctx, a.charge(Terms{}, old.Event, old.Fingerprint))
}

// remedied adds to an error of the ledger what can be done about it.
func (a *Account) remedied(err error) error {
	var refused *ledger.RefusedError
	if errors.As(err, &refused) {
		words := *refused
		words.Method, words.Budget = a.Spec.Config.Method.Name, a.Spec.Public.Privacy.Budget
		return &words
	}
	if errors.Is(err, account.ErrUnsupported) {
		return fmt.Errorf("the ledger cannot take this method: %w; choose a method of Gaussian noise, or a ledger that holds a reserve for others (discreet ledger init --help)", err)
	}
	return err
}
