package charging

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
)

// Desk says of many questions about one dataset what each would cost, with a ledger that
// stays open. It is safe for concurrent use.
type Desk struct {
	// Columns are observation columns that the policies of a question may read, besides those
	// that the steward's part of its configuration names. It is set before the first call.
	Columns []string
	// AsOf, if it is set, has quotes answer from what was charged before a time, and as if no
	// check had failed.
	AsOf func() time.Time

	ledger *ledger.Ledger

	mu    sync.Mutex
	known *agreement
}

// agreement is a steward's part that was found to keep to a version of the contract.
type agreement struct {
	part config.Config
	to   *agreed
}

// NewDesk asks a ledger, which it does not close.
func NewDesk(l *ledger.Ledger) *Desk { return &Desk{ledger: l} }

// Quote is the plan of a question with what the ledger said of it at that time.
type Quote struct {
	Plan *evaluate.Plan
	// Refused is why the plan would not be charged, nil if it would.
	Refused error
}

// Quote plans, and asks the ledger whether it would charge the plan. The ledger is
// asked every time; that the steward's part keeps to the contract is found out once for
// each version of it. Nothing is charged: a charge is held against the ledger anew.
func (d *Desk) Quote(ctx context.Context, c config.Config) (*Quote, error) {
	s, err := spec.New(c)
	if err != nil {
		return nil, err
	}
	if err := d.Serves(c); err != nil {
		return nil, err
	}
	if err := s.Declares(d.Columns); err != nil {
		return nil, err
	}
	q := &Quote{}
	if q.Plan, err = s.Plan(); err != nil {
		return nil, err
	}
	var asOf time.Time
	if d.AsOf != nil {
		asOf = d.AsOf()
	}
	a := &Account{Ledger: d.ledger, Spec: s, AsOf: asOf}
	var final bool
	if final, q.Refused = d.quick(ctx, a, q.Plan); final {
		return q, nil
	}
	g, err := a.agree(ctx)
	if err == nil {
		d.keep(c, g)
		var terms Terms
		if terms, err = a.under(ctx, g); err == nil {
			err = a.Fits(ctx, terms, q.Plan.Event)
		}
	}
	q.Refused = err
	return q, nil
}

// Serves refuses a configuration that names the budget of another dataset.
func (d *Desk) Serves(c config.Config) error {
	if c.Ledger == nil || c.Ledger.Dataset != d.ledger.Dataset() {
		return fmt.Errorf("%w: ledger.dataset is not %q, whose ledger is asked", config.ErrConfig, d.ledger.Dataset())
	}
	return nil
}

// Ledger is the desk's ledger, for an evaluation that reads declared columns alone. A
// ledger that is at its location by now and lacks anything this one has seen is not charged.
func (d *Desk) Ledger(s *spec.Spec) (*ledger.Ledger, error) {
	return d.ledger, s.Declares(d.Columns)
}

// quick answers under the version that the steward's part was last held against. The
// answer is final where the ledger compared that version with the one in force on the way
// to it: where the plan fits, and where the budget does not cover it.
func (d *Desk) quick(ctx context.Context, a *Account, p *evaluate.Plan) (final bool, refused error) {
	d.mu.Lock()
	k := d.known
	d.mu.Unlock()
	if k == nil || k.to.allows(a.Spec.Config) != nil || !reflect.DeepEqual(k.part, spec.StewardPart(a.Spec.Config)) {
		return false, nil
	}
	terms, err := a.under(ctx, k.to)
	if err != nil {
		return false, nil
	}
	refused = a.Fits(ctx, terms, p.Event)
	var budget *ledger.RefusedError
	return refused == nil || errors.As(refused, &budget), refused
}

// keep notes a steward's part that keeps to a contract, unless that rests on more than
// the configuration: on the working directory, or on the content of a file.
func (d *Desk) keep(c config.Config, to *agreed) {
	if !filepath.IsAbs(c.Dir) || to.Contract == nil || c.Data.Behavior != nil && c.Data.Behavior.Path != "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known = &agreement{spec.StewardPart(c), to}
}
