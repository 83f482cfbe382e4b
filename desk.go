package discreet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
)

// Desk says of many questions about one dataset what each would cost, and answers them, with
// a ledger that stays open. It is safe for concurrent use.
type Desk struct {
	// Columns are observation columns that the policies of a question may read, besides those
	// that the steward's part of its configuration names. It is set before the first call.
	Columns []string
	// AsOf, if it is set, has quotes answer from what was charged before a time, and as if no
	// check had failed.
	AsOf func() time.Time

	ledger *ledger.Ledger

	mu   sync.Mutex
	held *held
}

// held is the steward's part of a configuration that was found to keep to a version of
// the contract.
type held struct {
	part Config
	to   *agreed
}

// NewDesk asks a ledger, which it does not close.
func NewDesk(l *ledger.Ledger) *Desk { return &Desk{ledger: l} }

// Quote is the plan of a question with what the ledger said of it at that time.
type Quote struct {
	Plan *evaluate.Plan
	// Refused is why the plan would not be charged, as in [Funds].
	Refused error
}

// Quote does what [Plan] and [Budget] do, without the summary of the ledger. The ledger is
// asked every time; that the steward's part keeps to the contract is found out once for
// each version of it. Nothing is charged: a charge is held against the ledger anew.
func (d *Desk) Quote(ctx context.Context, c Config) (*Quote, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	if err := d.serves(c); err != nil {
		return nil, err
	}
	if err := j.declares(d.Columns); err != nil {
		return nil, err
	}
	q := &Quote{}
	if q.Plan, err = j.estimator.Plan(j.public); err != nil {
		return nil, err
	}
	if d.AsOf != nil {
		j.asOf = d.AsOf()
	}
	var final bool
	if final, q.Refused = d.quick(ctx, j, q.Plan); final {
		return q, nil
	}
	a, err := j.agree(ctx, d.ledger)
	if err == nil {
		d.keep(c, a)
		err = j.under(ctx, d.ledger, a)
	}
	if err == nil {
		err = j.fits(ctx, d.ledger, q.Plan)
	}
	q.Refused = err
	return q, nil
}

// serves refuses a configuration that names the budget of another dataset.
func (d *Desk) serves(c Config) error {
	if c.Ledger == nil || c.Ledger.Dataset != d.ledger.Dataset() {
		return fmt.Errorf("%w: ledger.dataset is not %q, whose ledger is asked", ErrConfig, d.ledger.Dataset())
	}
	return nil
}

// Evaluate does what [Evaluate] does, with the desk's ledger instead of the one that is at
// its location by now: a ledger that lacks anything this one has seen is not charged.
func (d *Desk) Evaluate(ctx context.Context, c Config, options ...Option) (*Result, error) {
	if err := d.serves(c); err != nil {
		return nil, err
	}
	return evaluateWith(ctx, c, options, func(j *job) (*ledger.Ledger, func() error, error) {
		if err := j.declares(d.Columns); err != nil {
			return nil, nil, err
		}
		return d.ledger, func() error { return nil }, nil
	})
}

// quick answers under the version that the steward's part was last held against. The
// answer is final where the ledger compared that version with the one in force on the way
// to it: where the plan fits, and where the budget does not cover it.
func (d *Desk) quick(ctx context.Context, j *job, p *evaluate.Plan) (final bool, refused error) {
	d.mu.Lock()
	h := d.held
	d.mu.Unlock()
	if h == nil || h.to.allows(j.config) != nil || !reflect.DeepEqual(h.part, j.config.stewards()) || j.under(ctx, d.ledger, h.to) != nil {
		return false, nil
	}
	refused = j.fits(ctx, d.ledger, p)
	var budget *RefusedError
	return refused == nil || errors.As(refused, &budget), refused
}

// keep notes a steward's part that keeps to a contract, unless that rests on more than
// the configuration: on the working directory, or on the content of a file.
func (d *Desk) keep(c Config, to *agreed) {
	if !filepath.IsAbs(c.Dir) || to.ContractBody == nil || c.Data.Behavior != nil && c.Data.Behavior.Path != "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = &held{c.stewards(), to}
}

// stewards is the configuration without the keys of the question.
func (c Config) stewards() Config {
	c.Target, c.Targets, c.Levels, c.Contrasts, c.Select, c.Start, c.Method = Target{}, nil, nil, nil, nil, nil, Method{}
	c.Privacy.Epsilon, c.Privacy.Delta = 0, 0
	c.Ledger, c.Output, c.Justification, c.Sign = nil, Output{}, "", ""
	if c.By != nil && c.By.Group != byFixed {
		c.By = nil
	}
	return c
}
