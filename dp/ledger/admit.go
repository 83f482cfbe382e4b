package ledger

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/dp/ledger/meter"
)

// mayCharge refuses a charge by an analyst who is not on the list, of another version
// of the contract, or that does not fit. What the analyst spent since is not counted.
func (l *Ledger) mayCharge(tx *store.Tx, totals chain.Totals, body *chain.ChargeBody, delta float64, since ...account.Cost) (analyst, meter.Limits, error) {
	a, err := l.analyst(tx, body.Analyst)
	for _, cost := range since {
		a.Spent = left(cost, a.Spent)
	}
	if err == nil {
		err = l.mayAsk(tx, body.Analyst, a)
	}
	if err == nil && body.Contract != totals.Contract.Number {
		err = store.Abort(fmt.Errorf("%w: dataset %q: the data were read by version %d and version %d is in force; ask again (0 is none)", ErrContract, l.open.Dataset, body.Contract, totals.Contract.Number))
	}
	if err != nil {
		return a, meter.Limits{}, err
	}
	limits, err := l.admit(body, totals, a, delta)
	return a, limits, err
}

// admit decides whether a charge fits the budget and the analyst's share, and
// returns what the budget admits.
func (l *Ledger) admit(body *chain.ChargeBody, totals chain.Totals, a analyst, delta float64) (meter.Limits, error) {
	limits, err := l.limits(totals.Budget)
	if err != nil {
		return limits, store.Abort(err)
	}
	if !totals.Spent.Plus(body.Cost).Within(limits.Most) {
		return limits, store.Abort(l.refusal(body, totals.Spent, limits, "", delta))
	}
	if a.Share == nil {
		return limits, nil
	}
	share, err := l.meter.Limits(a.Share.Budget, a.Share.Reserve)
	if err != nil {
		return limits, store.Abort(err)
	}
	if !a.Spent.Plus(body.Cost).Within(share.Most) {
		return limits, store.Abort(l.refusal(body, a.Spent, share, body.Analyst, delta))
	}
	return limits, nil
}

// refusal says what would still fit.
func (l *Ledger) refusal(body *chain.ChargeBody, spent account.Cost, limits meter.Limits, analyst string, delta float64) *RefusedError {
	e := &RefusedError{
		Dataset: l.open.Dataset, Analyst: analyst, Event: body.Event, Cost: body.Cost,
		Left: l.meter.Left(spent, limits), Delta: delta,
	}
	fits := func(event dp.Event) bool {
		// A refusal is made in full, whoever has stopped waiting for it.
		cost, err := l.meter.Cost(context.Background(), event)
		return err == nil && spent.Plus(cost).Within(limits.Most)
	}
	precision := 0.001 // a conversion of the event may take long
	if body.Cost.Sum > 0 {
		precision = 1e-9
	}
	e.Fitting, e.Noise = enough(body.Event, 1+precision, fits)
	if body.Cost.Sum > 0 {
		if !(e.Delta > 0) {
			e.Delta = limits.Budget.Delta - limits.Reserve.Delta
		}
		if e.Left.Mu > 0 {
			if b, err := account.GaussianEpsilon(e.Left.Mu, e.Delta); err == nil {
				e.Epsilon = b.Lower
			}
		}
		return e
	}
	e.Delta = body.Cost.Delta
	if e.Delta <= e.Left.Basic.Delta {
		e.Epsilon = e.Left.Basic.Epsilon
	}
	return e
}

// enough searches the smallest factor by which all noise of an event must grow
// for it to fit, to within the factor precision and on the safe side.
func enough(event dp.Event, precision float64, fits func(dp.Event) bool) (dp.Event, float64) {
	low, high := 1.0, 1.0
	for {
		if high *= 2; high > 0x1p30 {
			return nil, 0
		}
		if e, ok := noisier(event, high); !ok {
			return nil, 0
		} else if fits(e) {
			break
		}
		low = high
	}
	for high > low*precision {
		middle := math.Sqrt(low * high)
		if e, _ := noisier(event, middle); fits(e) {
			high = middle
		} else {
			low = middle
		}
	}
	e, _ := noisier(event, high)
	return e, high
}

// noisier multiplies all noise of an event by a factor; ok is false where an
// event's noise is not a multiple of anything.
func noisier(event dp.Event, factor float64) (dp.Event, bool) {
	switch e := event.(type) {
	case dp.Gaussian:
		return dp.Gaussian{NoiseMultiplier: e.NoiseMultiplier * factor}, true
	case dp.TreeAggregation:
		e.NoiseMultiplier *= factor
		return e, true
	case dp.Laplace:
		return dp.Laplace{NoiseMultiplier: e.NoiseMultiplier * factor}, true
	case dp.DiscreteGaussian:
		return dp.DiscreteGaussian{Sigma: e.Sigma * factor, Norm: e.Norm, Dimension: e.Dimension}, true
	case dp.DiscreteLaplace:
		return dp.DiscreteLaplace{Scale: e.Scale * factor, Norm: e.Norm}, true
	case dp.SelfComposed:
		child, ok := noisier(e.Event, factor)
		return dp.SelfComposed{Count: e.Count, Event: child}, ok
	case dp.Composed:
		all := make([]dp.Event, len(e.Events))
		for i, child := range e.Events {
			more, ok := noisier(child, factor)
			if !ok {
				return nil, false
			}
			all[i] = more
		}
		return dp.Composed{Events: all}, true
	}
	return nil, false
}

// roundDown and roundUp keep the digits that a message prints on the safe side.
func roundDown(x float64) float64 { return roundTo(x, math.Floor) }

func roundUp(x float64) float64 { return roundTo(x, math.Ceil) }

func roundTo(x float64, round func(float64) float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return x
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-3)
	return round(x/unit) * unit
}
