package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// A share is found by its analyst's name. Another string that reads the same would
// be an analyst without a share.
func TestNameThatReadsAsAnotherIsRefused(t *testing.T) {
	ctx := context.Background()
	config := plain(someBudget)
	config.OpenList = true
	l := create(t, stores[0].make(t), config)
	e := dp.Gaussian{NoiseMultiplier: 100}
	if err := l.SetShare(ctx, "rené", dp.Budget{Epsilon: 0.01, Delta: 1e-6}); err != nil {
		t.Fatal(err)
	}
	c := ask(e)
	if c.Analyst = "rené"; !errors.Is(l.Fits(ctx, c), ledger.ErrShare) {
		t.Fatal("the share is not short; the rest of this test says nothing")
	}
	for name, alias := range map[string]string{
		"space after": "rené ", "space before": " rené", "no-break space": "rené\u00a0", "inner no-break space": "re\u00a0né",
		"zero width space": "rené\u200b", "right to left": "\u202erené", "joiner": "re\u200dné", "byte order mark": "\ufeffrené",
		"soft hyphen": "re\u00adné", "line separator": "rené\u2028", "decomposed": "rene\u0301", "tab": "rené\t", "escape": "\x1b[31mrené",
		"not UTF-8": "ren\xe9", "empty": "", "private use": "rené\ue000", "too long": strings.Repeat("r", 5000),
	} {
		c := ask(e)
		c.Analyst = alias
		if _, err := l.Charge(ctx, c); !errors.Is(err, ledger.ErrCharge) {
			t.Errorf("analyst, %s: %v; want ErrCharge", name, err)
		}
		if err := l.SetShare(ctx, alias, someBudget); !errors.Is(err, ledger.ErrConfig) {
			t.Errorf("share, %s: %v; want ErrConfig", name, err)
		}
		c = ask(e)
		c.Key = alias
		if _, err := l.Charge(ctx, c); !errors.Is(err, ledger.ErrCharge) {
			t.Errorf("key, %s: %v; want ErrCharge", name, err)
		}
		config := plain(someBudget)
		config.Dataset = alias
		if _, err := ledger.Create(ctx, stores[0].make(t), config); !errors.Is(err, ledger.ErrConfig) {
			t.Errorf("dataset, %s: %v; want ErrConfig", name, err)
		}
	}
	for _, name := range []string{"Ann O'Neil", "林 美香", "Žofie", "ann@example.org", "team/a-1"} {
		c := ask(e)
		c.Analyst = name
		if err := l.Fits(ctx, c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a retry is told of a charge without a release does not claim to know
// whether its run is still going on.
func TestPendingChargeMayStillRun(t *testing.T) {
	l := create(t, stores[0].make(t), plain(someBudget))
	c := ask(dp.Gaussian{NoiseMultiplier: 100})
	charged(t, l, c)
	_, err := l.Charge(context.Background(), c)
	if !errors.Is(err, ledger.ErrPending) || !strings.Contains(err.Error(), "not ended yet") || !strings.Contains(err.Error(), "try again later") {
		t.Errorf("%v", err)
	}
}
