package account

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Adjacency is the neighbouring relation of the filter.
func (f *Filter) Adjacency() dp.Adjacency { return f.adj }

// Rule is the composition theorem in use.
func (f *Filter) Rule() Rule { return f.rule }

// Budget is what all charges together must meet.
func (f *Filter) Budget() dp.Budget { return f.budget }

// Order is the order of the Renyi rule, and 0 under the others.
func (f *Filter) Order() float64 {
	if f.rule != Renyi {
		return 0
	}
	return f.options.Order
}

// Fits reports, without charging, what Charge would: nil, an error that wraps
// [ErrExhausted] where the budget does not cover the event, or one that wraps
// [ErrUnsupported] where the rule cannot take it.
func (f *Filter) Fits(ctx context.Context, event dp.Event) error {
	_, err := f.after(ctx, event)
	return err
}

// Charge spends the event. On any error nothing is spent.
func (f *Filter) Charge(ctx context.Context, event dp.Event) error {
	next, err := f.after(ctx, event)
	if err != nil {
		return err
	}
	f.state = next
	return nil
}

func (f *Filter) after(ctx context.Context, event dp.Event) (filterState, error) {
	next := f.state
	if err := checkCompose(f.adj, event, 1); err != nil {
		return next, err
	}
	if own, ok, err := f.ownCost(ctx, event); err != nil {
		return next, err
	} else if ok {
		next.sum = xmath.AddUp(next.sum, own)
		if !(next.sum <= f.limit) {
			return next, fmt.Errorf("%w: %s needs %v of the %v rule's sum and %v of %v is left; ask for more noise", ErrExhausted,
				event.Kind(), own, f.rule, xmath.AddDown(f.limit, -f.state.sum), f.limit)
		}
		return next, nil
	}
	cost, err := f.basicCost(ctx, event)
	if err != nil {
		return next, err
	}
	next.basic.Epsilon = xmath.AddUp(next.basic.Epsilon, cost.Epsilon)
	next.basic.Delta = xmath.AddUp(next.basic.Delta, cost.Delta)
	reserve := f.options.Reserve
	if next.basic.Epsilon <= reserve.Epsilon && next.basic.Delta <= reserve.Delta {
		return next, nil
	}
	if f.rule != Basic && reserve == (dp.Budget{}) {
		return next, unsupported(event, fmt.Sprintf("cannot be charged under the %v rule, and no reserve is set aside for it; make the filter with a reserve", f.rule))
	}
	return next, fmt.Errorf("%w: %s needs epsilon %v, delta %v; spent are %v, %v of %v, %v", ErrExhausted, event.Kind(),
		cost.Epsilon, cost.Delta, f.state.basic.Epsilon, f.state.basic.Delta, reserve.Epsilon, reserve.Delta)
}

// ownCost is the event's part of the rule's own sum, rounded up; ok is false
// where the rule cannot take the event.
func (f *Filter) ownCost(ctx context.Context, event dp.Event) (cost float64, ok bool, err error) {
	switch f.rule {
	case GaussianDP:
		square, ok := muTree(f.adj, event)
		return square.Upper, ok, nil
	case Renyi:
		r := NewRDP(f.adj, f.options.Order)
		if err := r.Compose(ctx, event, 1); errors.Is(err, ErrUnsupported) {
			return 0, false, nil
		} else if err != nil {
			return 0, false, err
		}
		if r.leaked > 0 {
			return 0, false, nil
		}
		cost := r.Renyi(f.options.Order)
		return cost, !math.IsInf(cost, 1) && !math.IsNaN(cost), nil
	}
	return 0, false, nil
}

// basicCost is an (epsilon, delta) that the event meets, rounded up.
func (f *Filter) basicCost(ctx context.Context, event dp.Event) (dp.Budget, error) {
	var cost dp.Budget
	err := leaves(event, 1, func(leaf dp.Event, n int64) error {
		if err := defined(f.adj, leaf); err != nil {
			return err
		}
		b, ok := plainCost(f.adj, leaf)
		if !ok {
			return errNotPlain
		}
		times := counted(n).Upper
		cost.Epsilon = xmath.AddUp(cost.Epsilon, xmath.MulUp(b.Epsilon, times))
		cost.Delta = xmath.AddUp(cost.Delta, xmath.MulUp(b.Delta, times))
		return nil
	})
	if !errors.Is(err, errNotPlain) {
		return cost, err
	}
	if f.options.ChargeDelta == 0 {
		return dp.Budget{}, unsupported(event, "is neither pure nor (epsilon, delta), and no delta is fixed at which to convert it; make the filter with a ChargeDelta")
	}
	event, err = f.fixedForCharge(ctx, event)
	if err != nil {
		return dp.Budget{}, err
	}
	a := f.options.Accountant(f.adj)
	if err := a.Compose(ctx, event, 1); err != nil {
		return dp.Budget{}, err
	}
	b, err := a.Epsilon(ctx, f.options.ChargeDelta)
	return dp.Budget{Epsilon: b.Upper, Delta: f.options.ChargeDelta}, err
}

// errNotPlain stops a walk at the first event that is not (epsilon, delta).
var errNotPlain = errors.New("not plain")

// plainCost is the (epsilon, delta) of events that have one by definition.
func plainCost(adj dp.Adjacency, leaf dp.Event) (dp.Budget, bool) {
	switch e := leaf.(type) {
	case dp.ApproximateDP:
		return dp.Budget(e), true
	case dp.Laplace, dp.DiscreteLaplace, dp.RandomizedResponse, dp.PureDP, dp.Exponential, dp.PermuteAndFlip, dp.ReportNoisyMax:
		return dp.Budget{Epsilon: singleProfile(adj, e).most}, true
	}
	return dp.Budget{}, false
}

// Spent is an (epsilon, delta) that the charges so far are certain to meet:
// under Basic what they add up to; else what was spent of the reserve, added to
// the epsilon of the rule's own sum at the delta of its part. It costs one
// inversion of a profile, whatever the number of charges.
func (f *Filter) Spent() (dp.Budget, error) {
	spent := f.state.basic
	if f.state.sum == 0 {
		return spent, nil
	}
	var epsilon float64
	if f.rule == GaussianDP {
		b, err := GaussianEpsilon(xmath.Up(math.Sqrt(f.state.sum), 1), f.main.Delta)
		if err != nil {
			return dp.Budget{}, err
		}
		epsilon = b.Upper
	} else {
		epsilon = max(renyiEpsilon(f.options.Order, f.state.sum, f.main.Delta), 0)
	}
	// The sum is within its limit, so its epsilon is within the budget: any
	// excess is rounding.
	spent.Epsilon = xmath.AddUp(spent.Epsilon, min(epsilon, f.main.Epsilon))
	spent.Delta = xmath.AddUp(spent.Delta, f.main.Delta)
	return dp.Budget{Epsilon: min(spent.Epsilon, f.budget.Epsilon), Delta: min(spent.Delta, f.budget.Delta)}, nil
}

// Allowance is what a filter has left, rounded down.
type Allowance struct {
	// Basic is what is left for charges that add up as (epsilon, delta): of the
	// budget under Basic, else of the reserve.
	Basic dp.Budget
	// Mu is the largest mu of one more Gaussian charge, 0 under Basic. A clipped
	// sum needs a noise multiplier of at least its sensitivity, in clips, over Mu.
	Mu float64
	// Divergence is what is left at the order of the Renyi rule, else 0.
	Divergence float64
}

// Remaining returns what is left.
func (f *Filter) Remaining() Allowance {
	reserve := f.options.Reserve
	a := Allowance{Basic: dp.Budget{
		Epsilon: max(xmath.AddDown(reserve.Epsilon, -f.state.basic.Epsilon), 0),
		Delta:   max(xmath.AddDown(reserve.Delta, -f.state.basic.Delta), 0),
	}}
	left := max(xmath.AddDown(f.limit, -f.state.sum), 0)
	switch f.rule {
	case GaussianDP:
		a.Mu = max(xmath.Down(math.Sqrt(left), 1), 0)
	case Renyi:
		a.Divergence = left
		a.Mu = max(xmath.Down(math.Sqrt(xmath.DivDown(2*left, f.options.Order)), 2), 0)
	}
	return a
}
