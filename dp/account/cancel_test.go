package account_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// looking is a context that is cancelled at a given look at it, and counts the looks.
type looking struct {
	context.Context
	looks, last int
}

func (l *looking) Err() error {
	l.looks++
	if l.last > 0 && l.looks >= l.last {
		return context.Canceled
	}
	return nil
}

// slowQueries are queries that take from some milliseconds to seconds, with the least number
// of looks at the context that a whole one takes.
func slowQueries() map[string]struct {
	looks int
	ask   func(ctx context.Context) error
} {
	b := dp.Budget{Epsilon: 1, Delta: 1e-6}
	sampled := dp.PoissonSampled{Rate: .01, Event: dp.Gaussian{NoiseMultiplier: 1}}
	composed := func(fresh func() account.Accountant, query func(a account.Accountant, ctx context.Context) (account.Bracket, error)) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			a := fresh()
			for i := range 3 {
				e := dp.PoissonSampled{Rate: .01 + float64(i)*1e-4, Event: dp.Gaussian{NoiseMultiplier: 1}}
				if err := a.Compose(ctx, e, 10); err != nil {
					return err
				}
			}
			_, err := query(a, ctx)
			return err
		}
	}
	adjacency := dp.AddRemoveOne
	pld := func() account.Accountant { return account.NewPLD(adjacency) }
	epsilon := func(a account.Accountant, ctx context.Context) (account.Bracket, error) { return a.Epsilon(ctx, 1e-6) }
	delta := func(a account.Accountant, ctx context.Context) (account.Bracket, error) { return a.Delta(ctx, 1) }
	type query = struct {
		looks int
		ask   func(ctx context.Context) error
	}
	return map[string]query{
		"epsilon by loss distributions": {100, composed(pld, epsilon)},
		"delta by loss distributions":   {100, composed(pld, delta)},
		"epsilon by Renyi divergences":  {50, composed(func() account.Accountant { return account.NewRDP(adjacency) }, epsilon)},
		"epsilon of a group": {100, func(ctx context.Context) error {
			a := account.ForGroup(account.New(dp.AddRemoveOne), 3)
			if err := a.Compose(ctx, dp.Laplace{NoiseMultiplier: 1}, 1); err != nil {
				return err
			}
			_, err := a.Epsilon(ctx, 1e-6)
			return err
		}},
		"a calibration": {100, func(ctx context.Context) error {
			_, err := account.Calibrate(ctx, func(x float64) (dp.Event, error) {
				return dp.SelfComposed{Count: 100, Event: dp.PoissonSampled{Rate: .01, Event: dp.Gaussian{NoiseMultiplier: x}}}, nil
			}, b, func() account.Accountant { return account.New(dp.AddRemoveOne) })
			return err
		}},
		"the largest count": {100, func(ctx context.Context) error {
			_, err := account.LargestCount(ctx, sampled, b, func() account.Accountant { return account.New(dp.AddRemoveOne) })
			return err
		}},
		"a charge that is converted": {10, func(ctx context.Context) error {
			f, err := account.NewFilter(dp.AddRemoveOne, b, account.Basic, account.FilterOptions{ChargeDelta: 1e-7})
			if err != nil {
				return err
			}
			return f.Charge(ctx, sampled)
		}},
		"alpha of smooth sensitivity": {100, func(ctx context.Context) error {
			_, err := account.SmoothGaussianAlpha(ctx, b, .001, 20)
			return err
		}},
		"delta of smooth sensitivity": {20, func(ctx context.Context) error {
			_, err := account.SmoothGaussianDelta(ctx, 4, .001, 20, 1)
			return err
		}},
		"the constants of Balle et al.": {10, func(ctx context.Context) error {
			_, _, err := account.Balle16Constants(ctx, b, 20)
			return err
		}},
		"a vector of discrete Gaussian noise": {50, func(ctx context.Context) error {
			a := account.New(dp.AddRemoveOne)
			if err := a.Compose(ctx, dp.DiscreteGaussian{Sigma: 2, Norm: 3}, 1); err != nil {
				return err
			}
			_, err := a.Epsilon(ctx, 1e-6)
			return err
		}},
	}
}

// A query that is cancelled at any of its looks at the context ends with the context's error, and
// looks no more than a few times again: nothing goes on unseen.
func TestCancelledQueriesEnd(t *testing.T) {
	for name, q := range slowQueries() {
		whole := &looking{Context: context.Background()}
		if err := q.ask(whole); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if whole.looks < q.looks {
			t.Errorf("%s looks %d times at its context; want at least %d", name, whole.looks, q.looks)
		}
		for _, share := range []float64{0, .3, 1} {
			ctx := &looking{Context: context.Background(), last: max(1, int(share*float64(whole.looks)))}
			err := q.ask(ctx)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled at look %d of %d: %v; want context.Canceled", name, ctx.last, whole.looks, err)
			}
			if more := ctx.looks - ctx.last; more > 400 {
				t.Errorf("%s, cancelled at look %d of %d, looks %d times again", name, ctx.last, whole.looks, more)
			}
		}
	}
}

// Brackets of other widths hold the same truth, and come out about as wide as was asked for.
func TestWidth(t *testing.T) {
	e := dp.PoissonSampled{Rate: .01, Event: dp.Gaussian{NoiseMultiplier: 1}}
	ask := func(options ...account.Option) account.Bracket {
		a := account.NewPLD(dp.AddRemoveOne, options...)
		if err := a.Compose(t.Context(), e, 1000); err != nil {
			t.Fatal(err)
		}
		b, err := a.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	usual, fine := ask(), ask(account.Width(1e-5))
	for width, b := range map[float64]account.Bracket{2e-4: usual, 1e-5: fine, 1e-3: ask(account.Width(1e-3)), .05: ask(account.Width(.05))} {
		if got := b.Upper/b.Lower - 1; got > 3*width {
			t.Errorf("a bracket of width %v is %v wide", width, got)
		}
		if b.Lower > fine.Upper || b.Upper < fine.Lower {
			t.Errorf("width %v: %v does not meet %v", width, b, fine)
		}
	}
	for _, width := range []float64{0, -1, 1e-7, .2, math.NaN()} {
		if account.CheckWidth(width) == nil {
			t.Errorf("width %v is taken", width)
		}
	}
}
