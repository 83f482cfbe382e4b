package meter

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// Cost returns what the event spends under the rule. What the rule cannot take
// itself is measured as (epsilon, delta). An event that has neither is refused
// with [account.ErrUnsupported], by name.
func (m *Meter) Cost(ctx context.Context, event dp.Event) (account.Cost, error) {
	if event == nil {
		return account.Cost{}, fmt.Errorf("%w: no event", dp.ErrEvent)
	}
	if err := event.Validate(); err != nil {
		return account.Cost{}, err
	}
	if order, ok := m.ownOrder(event); ok {
		r := account.NewRDP(m.adj, order)
		err := r.Compose(ctx, event, 1)
		if err == nil {
			if cost := r.Renyi(order); cost >= 0 && !math.IsInf(cost, 1) {
				return account.Cost{Sum: cost}, nil
			}
		} else if !errors.Is(err, account.ErrUnsupported) {
			return account.Cost{}, err
		}
	}
	return m.plainCost(ctx, event)
}

// ownOrder is the order of the divergence that is the event's part of the rule's
// own sum. A Gaussian event of mu has divergence order mu^2/2, so at order 2
// that is the mu^2 of the Gaussian rule.
func (m *Meter) ownOrder(event dp.Event) (order float64, ok bool) {
	switch m.rule {
	case account.GaussianDP:
		return 2, every(event, isGaussian)
	case account.Renyi:
		return m.options.Order, every(event, hasNoDelta)
	}
	return 0, false
}

func isGaussian(e dp.Event) bool {
	switch e := e.(type) {
	case dp.Gaussian, dp.GaussianDP, dp.TreeAggregation, dp.Composed, dp.SelfComposed:
		return true
	case dp.PoissonSampled:
		return e.Rate == 1
	}
	return false
}

// hasNoDelta excludes what may fail with a probability that no divergence sees.
func hasNoDelta(e dp.Event) bool {
	a, ok := e.(dp.ApproximateDP)
	return !ok || a.Delta == 0
}

// every reports that a property holds for all events of a tree.
func every(event dp.Event, holds func(dp.Event) bool) bool {
	if !holds(event) {
		return false
	}
	switch e := event.(type) {
	case dp.Composed:
		for _, child := range e.Events {
			if !every(child, holds) {
				return false
			}
		}
	case dp.SelfComposed:
		return every(e.Event, holds)
	case dp.PoissonSampled:
		return every(e.Event, holds)
	case dp.SampledWithoutReplacement:
		return every(e.Event, holds)
	}
	return true
}

// plainCost is an (epsilon, delta) of the event: what a basic filter with all
// the room there is says that it spent.
func (m *Meter) plainCost(ctx context.Context, event dp.Event) (account.Cost, error) {
	vast := dp.Budget{Epsilon: math.MaxFloat64, Delta: math.Nextafter(1, 0)}
	probe, err := account.NewFilter(m.adj, vast, account.Basic, account.FilterOptions{ChargeDelta: m.options.ChargeDelta})
	if err != nil {
		return account.Cost{}, err
	}
	if err := probe.Charge(ctx, event); err != nil {
		return account.Cost{}, err
	}
	spent, err := probe.Spent()
	return account.Cost{Epsilon: spent.Epsilon, Delta: spent.Delta}, err
}

// older is how much more an earlier version of the accountant may have charged for
// an event that it converted.
const older = 1.25

// Converted reports that a cost which differs from what [Meter.Cost] says may be
// another version's conversion of the event to (epsilon, delta) at the fixed delta.
// Such a conversion is the upper end of a bracket, and versions differ in how wide
// their brackets are: the epsilon must not be below what the event certainly costs,
// nor more than 2% below or 25% above this version's upper end.
func (m *Meter) Converted(ctx context.Context, event dp.Event, cost account.Cost) (bool, error) {
	now, err := m.Cost(ctx, event)
	delta := m.options.ChargeDelta
	if err != nil || delta == 0 || now.Sum != 0 || cost.Sum != 0 || now.Delta != delta || cost.Delta != delta {
		return false, err
	}
	a := account.New(m.adj)
	if err := a.Compose(ctx, event, 1); errors.Is(err, account.ErrUnsupported) {
		// What a filter converts in its place, with half of the delta fixed in the event.
		if event, err = account.FixDelta(ctx, m.adj, event, delta/2); err != nil {
			return false, err
		}
		a = account.New(m.adj)
		if err := a.Compose(ctx, event, 1); err != nil {
			return false, err
		}
	} else if err != nil {
		return false, err
	}
	b, err := a.Epsilon(ctx, delta)
	if err != nil || now.Epsilon != b.Upper { // it has an epsilon of its own
		return false, err
	}
	return cost.Epsilon >= b.Lower && cost.Epsilon >= 0.98*b.Upper && cost.Epsilon <= older*b.Upper, nil
}
