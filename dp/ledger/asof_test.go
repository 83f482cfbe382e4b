package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// What is left as of a time is what was left then, of the budget and of a share, whatever was
// charged since.
func TestAsOfATimeLaterChargesDoNotShow(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := history(t, location)
		before, err := l.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		for time.Since(at) < time.Millisecond { // entries have times in microseconds
		}
		at = at.Add(time.Millisecond / 2)
		large := ask(dp.Gaussian{NoiseMultiplier: 12})
		if err := l.Fits(ctx, large); err != nil {
			t.Fatal(err)
		}
		release(t, l, large, "{}")
		if err := l.SetBudget(ctx, dp.Budget{Epsilon: 1.4, Delta: 1e-6}, "less"); err != nil {
			t.Fatal(err)
		}
		then, err := l.StateAt(ctx, at)
		if err != nil || then.Budget != before.Budget || then.Spent != before.Spent || then.Totals != before.Totals || len(then.Analysts) != 1 {
			t.Errorf("%+v, %v; want %+v", then, err, before)
		} else if a, b := then.Analysts[0].Spent.Epsilon, before.Analysts[0].Spent.Epsilon; a > b*1.000001 || a < b*0.999999 {
			t.Errorf("the analyst had spent %v; want %v", a, b)
		}
		again := ask(large.Event)
		if err := l.Fits(ctx, again); !errors.Is(err, ledger.ErrBudget) {
			t.Errorf("now: %v; want ErrBudget", err)
		}
		if again.AsOf = at; l.Fits(ctx, again) != nil {
			t.Errorf("then: %v", l.Fits(ctx, again))
		}
		now, err := l.StateAt(ctx, time.Now())
		if s, problem := l.State(ctx); problem != nil || err != nil || now.Spent != s.Spent || now.Budget != s.Budget {
			t.Errorf("%+v, %v; want %+v", now, err, s)
		}
	})
}
