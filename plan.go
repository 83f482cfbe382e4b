package discreet

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/charging"
	"github.com/discreet-rl/discreet/internal/spec"
)

// Plan says what an evaluation would release, what it would cost and how far
// off it is expected to be. It does not open the data.
func Plan(c config.Config) (*evaluate.Plan, error) {
	s, err := spec.New(c)
	if err != nil {
		return nil, err
	}
	return s.Plan()
}

// Funds says what the ledger of a configuration has left.
type Funds struct {
	*ledger.Summary
	// Refused is why the plan would not be charged as things stand, nil if it would.
	// Where the budget does not cover it, it is a [ledger.RefusedError].
	Refused error
}

// Budget looks up what is left for a plan that [Plan] made from the same
// configuration. It spends nothing and does not open the data. It is nil where the
// configuration names no ledger.
func Budget(ctx context.Context, c config.Config, p *evaluate.Plan) (*Funds, error) {
	s, err := spec.New(c)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("%w: no plan; make one with Plan", config.ErrConfig)
	}
	l, err := charging.Open(ctx, c)
	if l == nil || err != nil {
		return nil, err
	}
	defer l.Close()
	f := &Funds{}
	if f.Summary, err = l.State(ctx); err != nil {
		return nil, err
	}
	a := charging.Account{Ledger: l, Spec: s}
	terms, err := a.Contracted(ctx)
	if err == nil {
		err = a.Fits(ctx, terms, p.Event)
	}
	f.Refused = err
	return f, nil
}
