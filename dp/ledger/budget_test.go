package ledger_test

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
)

func TestSharesAreKeptUnderTheBudget(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: someBudget, OpenList: true})
		if err := l.SetShare(ctx, "ann", dp.Budget{Epsilon: 2, Delta: 1e-6}); !errors.Is(err, ledger.ErrConfig) {
			t.Errorf("a share above the budget: %v", err)
		}
		share := dp.Budget{Epsilon: 0.5, Delta: 5e-7}
		if err := l.SetShare(ctx, "ann", share); err != nil {
			t.Fatal(err)
		}
		count := func(analyst string, e dp.Event) int {
			for n := 0; ; n++ {
				c := ask(e)
				c.Analyst = analyst
				if _, err := l.Charge(ctx, c); err != nil {
					if errors.Is(err, ledger.ErrShare) != (analyst == "ann") || !errors.Is(err, ledger.ErrBudget) {
						t.Errorf("%s: %v", analyst, err)
					}
					return n
				}
			}
		}
		// A share is a filter of its own: half the budget and half the reserve.
		f, err := account.NewFilter(dp.ReplaceOne, share, account.GaussianDP, account.FilterOptions{Reserve: dp.Budget{Epsilon: 0.125, Delta: 2.5e-7}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []dp.Event{dp.Gaussian{NoiseMultiplier: 47}, dp.Laplace{NoiseMultiplier: 90}} {
			want := 0
			for f.Charge(t.Context(), e) == nil {
				want++
			}
			if got := count("ann", e); got != want || want < 3 {
				t.Errorf("%d charges of %v within the share; the filter of the share admits %d", got, e, want)
			}
		}
		if n := count("bob", dp.Gaussian{NoiseMultiplier: 47}); n == 0 {
			t.Error("nothing is left for an analyst without a share")
		}
		if err := l.SetShare(ctx, "ann", dp.Budget{Epsilon: 0.2, Delta: 5e-7}); !errors.Is(err, ledger.ErrBudget) {
			t.Errorf("a share below what was spent: %v", err)
		}
		s, err := l.State(ctx)
		if err != nil || len(s.Analysts) != 2 || s.Analysts[0].Share == nil || s.Analysts[0].Spent.Epsilon > share.Epsilon || s.Analysts[1].Share != nil {
			t.Errorf("state: %+v, %v", s, err)
		}
		verified(t, l)
	})
}

func TestBudgetChangesAreInTheChain(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		e := dp.Gaussian{NoiseMultiplier: 12}
		for l.Fits(ctx, ask(e)) == nil {
			release(t, l, ask(e), "x")
		}
		if err := l.SetBudget(ctx, dp.Budget{Epsilon: 0.3, Delta: 1e-6}, "less"); !errors.Is(err, ledger.ErrBudget) {
			t.Errorf("a budget below what was spent: %v", err)
		}
		if err := l.SetBudget(ctx, dp.Budget{Epsilon: 2, Delta: 1e-6}, ""); !errors.Is(err, ledger.ErrConfig) {
			t.Errorf("a budget without a reason: %v", err)
		}
		if err := l.SetBudget(ctx, dp.Budget{Epsilon: 2, Delta: 1e-6}, "second survey"); err != nil {
			t.Fatal(err)
		}
		again := open(t, location, "")
		release(t, again, ask(e), "x")
		if err := again.SetBudget(ctx, dp.Budget{Epsilon: 1.7, Delta: 1e-6}, "a lower one is still above"); err != nil {
			t.Error(err)
		}
		history, err := l.History(ctx)
		if err != nil || len(history) < 4 || history[len(history)-2].Budget.Epsilon != 2 || history[len(history)-1].Budget.Epsilon != 1.7 {
			t.Errorf("history: %+v, %v", history, err)
		}
		for i := 1; i < len(history); i++ {
			if p, q := history[i-1], history[i]; q.Spent.Epsilon < p.Spent.Epsilon && q.Budget == p.Budget || q.Seq <= p.Seq || q.Time.Before(p.Time) {
				t.Errorf("history goes back from %+v to %+v", p, q)
			}
		}
		verified(t, l)
	})
}

func TestBatchIsAllOrNothing(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		var batch []ledger.Charge
		for range 5 {
			batch = append(batch, ask(dp.Gaussian{NoiseMultiplier: 60}))
		}
		grants, err := l.ChargeAll(ctx, batch)
		if err != nil || len(grants) != 5 {
			t.Fatal(err)
		}
		for i, g := range grants {
			if g.Entry.Seq != int64(i+1) || g.Receipt.Stamp().Head != grants[4].Receipt.Stamp().Head || g.Receipt.Redeem(dp.ReplaceOne, batch[i].Event) != nil {
				t.Errorf("grant %d: %+v", i, g)
			}
		}
		for name, bad := range map[string]ledger.Charge{
			"too much":    ask(dp.Gaussian{NoiseMultiplier: 1}),
			"key of old":  batch[0],
			"same key":    {Key: "twice", Analyst: "ann", Event: dp.Gaussian{NoiseMultiplier: 60}, Adjacency: dp.ReplaceOne},
			"adjacency":   {Key: "k", Analyst: "ann", Event: dp.Gaussian{NoiseMultiplier: 60}, Adjacency: dp.AddRemoveOne},
			"wrong event": {Key: "k", Analyst: "ann", Event: dp.Gaussian{}, Adjacency: dp.ReplaceOne},
		} {
			next := []ledger.Charge{ask(dp.Gaussian{NoiseMultiplier: 60}), bad}
			if name == "same key" {
				next[0].Key = "twice"
				next[0].ConfigHash = ""
			}
			if grants, err := l.ChargeAll(ctx, next); err == nil || grants != nil {
				t.Errorf("%s: granted", name)
			}
		}
		if _, err := l.ChargeAll(ctx, nil); !errors.Is(err, ledger.ErrCharge) {
			t.Errorf("no charges: %v", err)
		}
		s, err := l.State(ctx)
		if err != nil || s.Charges != 5 || s.Head.Seq != 5 {
			t.Errorf("after failed batches: %+v, %v", s, err)
		}
		verified(t, l)
	})
}
