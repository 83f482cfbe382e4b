package account

import (
	"context"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// FixDelta makes an event that can be composed, and charged, out of one that holds
// smooth_gaussian or shuffled events: these have no one pair of laws that dominates them at
// every epsilon. Each is replaced by the approximate_dp event that it is certain to meet at its
// part of delta, the same for every run of such an event. All else is left as it is, and so
// is what runs inside a sample or a choice among runs.
//
// The result is what to charge and to keep: its deltas are fixed with it. Dividing delta again
// once later events are known would let the division depend on what was released, which no theorem on
// filters covers.
func FixDelta(ctx context.Context, adj dp.Adjacency, event dp.Event, delta float64) (dp.Event, error) {
	if err := checkCompose(adj, event, 1); err != nil {
		return nil, err
	}
	if err := checkDelta(delta); err != nil {
		return nil, err
	}
	total := 0.0
	err := leaves(event, 1, func(leaf dp.Event, n int64) error {
		if unpaired(leaf) {
			total = xmath.AddUp(total, counted(n).Upper)
		}
		return nil
	})
	if err != nil || total == 0 {
		return event, err
	}
	f := fixing{ctx: ctx, adj: adj, part: xmath.DivDown(delta, total)}
	return f.fix(event)
}

// unpaired reports that an event has no pair of laws that dominates it at every epsilon.
func unpaired(leaf dp.Event) bool {
	switch leaf.(type) {
	case dp.SmoothGaussian, dp.Shuffled:
		return true
	}
	return false
}

// fixing is one conversion of a tree, with the delta of each of its runs.
type fixing struct {
	ctx  context.Context
	adj  dp.Adjacency
	part float64
}

func (f fixing) fix(event dp.Event) (dp.Event, error) {
	switch e := event.(type) {
	case dp.Composed:
		out := make([]dp.Event, len(e.Events))
		for i, child := range e.Events {
			var err error
			if out[i], err = f.fix(child); err != nil {
				return nil, err
			}
		}
		return dp.Composed{Events: out}, nil
	case dp.SelfComposed:
		child, err := f.fix(e.Event)
		return dp.SelfComposed{Count: e.Count, Event: child}, err
	case dp.PoissonSampled:
		if e.Rate == 1 { // everybody is in it: leaves counts what it runs
			return f.fix(e.Event)
		}
	}
	if !unpaired(event) {
		return event, nil
	}
	a := newClosedForm(f.adj)
	if err := a.Compose(f.ctx, event, 1); err != nil {
		return nil, err
	}
	b, err := a.Epsilon(f.ctx, f.part)
	return dp.ApproximateDP{Epsilon: b.Upper, Delta: f.part}, err
}

// fixedForCharge is what a filter converts in place of an event: one that composes events
// without a pair has half of the charge's delta divided among them.
func (f *Filter) fixedForCharge(ctx context.Context, event dp.Event) (dp.Event, error) {
	runs, without := 0.0, false
	err := leaves(event, 1, func(leaf dp.Event, n int64) error {
		runs += float64(n)
		without = without || unpaired(leaf)
		return nil
	})
	if err != nil || !without || runs == 1 {
		return event, err
	}
	return FixDelta(ctx, f.adj, event, f.options.ChargeDelta/2)
}
