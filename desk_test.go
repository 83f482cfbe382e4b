package discreet_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/charging"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// A desk says of every configuration what Plan and Budget say, which open the ledger and
// read the contract each time: before and after it has noted that a steward's part keeps
// to the contract, when the budget is spent, and when there is another version.
func TestADeskSaysWhatBudgetSays(t *testing.T) {
	ctx := context.Background()
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-5})
	location := filepath.Join(c.Dir, c.Ledger.Path)
	if _, err := discreet.SetContract(ctx, change(t, c, "contract={methods: [dp-is, dp-refine], failed_checks: 2}"), location, "", ""); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ctx, location, "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c.Ledger.Dataset = l.Dataset()
	desk := charging.NewDesk(l)
	said := map[string]bool{}
	same := func(when string, c config.Config) {
		t.Helper()
		want, err := discreet.Plan(c)
		if err != nil {
			if _, got := desk.Quote(ctx, c); got == nil || got.Error() != err.Error() {
				t.Errorf("%s: %v; Plan says %v", when, got, err)
			}
			return
		}
		funds, err := discreet.Budget(ctx, c, want)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		for range 2 {
			q, err := desk.Quote(ctx, c)
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			if fmt.Sprint(q.Refused) != fmt.Sprint(funds.Refused) || q.Plan.Epsilon != want.Epsilon || fmt.Sprint(q.Plan.Event) != fmt.Sprint(want.Event) {
				t.Errorf("%s: refused for %v, plan %v at %v; want %v, %v at %v", when, q.Refused, q.Plan.Event, q.Plan.Epsilon, funds.Refused, want.Event, want.Epsilon)
			}
			said[fmt.Sprint(q.Refused)] = true
		}
	}
	all := func(when string) {
		same(when, c)
		for _, set := range append(append([]string{"privacy.epsilon=4.9", "privacy.epsilon=50"}, stewardsKeys...), questionKeys...) {
			same(when+", "+set, change(t, c, set))
		}
		same(when, c)
	}
	all("at first")
	for i := range 2 {
		if i == 1 {
			same("after one failed check", c)
		}
		if _, _, err := l.BeginCheck(ctx, ledger.Charge{Key: ledger.NewKey(), Analyst: "a", Event: dp.Gaussian{NoiseMultiplier: 50}, Adjacency: dp.ReplaceOne, Contract: 1}, 9); err != nil {
			t.Fatal(err)
		}
	}
	same("after two failed checks", c)
	if _, err := l.ClearChecks(ctx); err != nil {
		t.Fatal(err)
	}
	spend := ledger.Charge{Key: ledger.NewKey(), Analyst: "a", Event: dp.Gaussian{NoiseMultiplier: 3}, Adjacency: dp.ReplaceOne, Contract: 1}
	if _, err := l.Charge(ctx, spend); err != nil {
		t.Fatal(err)
	}
	same("after a charge", c)
	same("after a charge, for too much", change(t, c, "privacy.epsilon=4.9"))
	if _, err := discreet.SetContract(ctx, change(t, c, "contract={methods: [dp-is]}"), location, l.Dataset(), "fewer methods"); err != nil {
		t.Fatal(err)
	}
	all("under version 2")
	if len(said) < 20 {
		t.Errorf("only %d answers differed", len(said))
	}
	other := c
	other.Ledger = &config.Ledger{Path: c.Ledger.Path, Dataset: "another"}
	if _, err := desk.Quote(ctx, other); err == nil {
		t.Error("it answered for a dataset whose ledger it has not")
	}
}
