package ledger_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/receipt"
)

func TestReceiptIsForTheChargedEventAlone(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		event := dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 40}, dp.SelfComposed{Count: 3, Event: dp.Gaussian{NoiseMultiplier: 90}}}}
		g, err := l.Charge(ctx, ask(event))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Record(ctx, g.Receipt, []byte("early")); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("a release was recorded before its run: %v", err)
		}
		for name, err := range map[string]error{
			"other event":     g.Receipt.Redeem(dp.ReplaceOne, dp.Gaussian{NoiseMultiplier: 40}),
			"no event":        g.Receipt.Redeem(dp.ReplaceOne, nil),
			"other adjacency": g.Receipt.Redeem(dp.AddRemoveOne, event),
		} {
			if !errors.Is(err, receipt.ErrInvalid) {
				t.Errorf("%s: %v; want ErrInvalid", name, err)
			}
		}
		if !g.Receipt.Charged() || g.Receipt.Redeem(dp.ReplaceOne, event) != nil {
			t.Error("the receipt of the charge is refused")
		}
		if err := g.Receipt.Redeem(dp.ReplaceOne, event); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("used twice: %v", err)
		}
		other := create(t, location, ledger.Config{Dataset: "other", Adjacency: dp.ReplaceOne, Budget: someBudget})
		if err := other.Record(ctx, g.Receipt, []byte("x")); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("recorded in another ledger: %v", err)
		}
		if err := l.Record(ctx, receipt.None(), []byte("x")); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("recorded without a charge: %v", err)
		}
		verified(t, l)
	})
}

func TestRetryGetsTheRecordedBytesAndNeverASecondRun(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		c := ask(dp.Gaussian{NoiseMultiplier: 40})
		g, err := l.Charge(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		again := open(t, location, "trial") // another process
		if _, err := again.Charge(ctx, c); !errors.Is(err, ledger.ErrPending) {
			t.Errorf("a pending key: %v; want ErrPending", err)
		}
		if err := g.Receipt.Redeem(c.Adjacency, c.Event); err != nil {
			t.Fatal(err)
		}
		body := []byte("{\"theta\": [1, 2]}\n\x00")
		for range 2 { // the second is a retry after a lost answer
			if err := l.Record(ctx, g.Receipt, body); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Record(ctx, g.Receipt, []byte("other")); !errors.Is(err, ledger.ErrRecorded) {
			t.Errorf("other bytes for the same charge: %v", err)
		}
		var recorded *ledger.RecordedError
		c.CodeVersion, c.Purpose = "v2", "retry"
		if _, err := again.Charge(ctx, c); !errors.As(err, &recorded) || !bytes.Equal(recorded.Release, body) || recorded.Entry.Seq != g.Entry.Seq {
			t.Errorf("a recorded key: %v", err)
		}
		for name, change := range map[string]func(*ledger.Charge){
			"event":       func(c *ledger.Charge) { c.Event = dp.Gaussian{NoiseMultiplier: 41} },
			"config":      func(c *ledger.Charge) { c.ConfigHash = "d" },
			"analyst":     func(c *ledger.Charge) { c.Analyst = "bob" },
			"fingerprint": func(c *ledger.Charge) { c.Fingerprint = l.Fingerprint().String() },
		} {
			d := c
			change(&d)
			if _, err := again.Charge(ctx, d); !errors.Is(err, ledger.ErrKeyReused) {
				t.Errorf("the key with another %s: %v; want ErrKeyReused", name, err)
			}
		}
		s, err := l.State(ctx)
		if err != nil || s.Charges != 1 || s.PendingCount != 0 || s.Totals != g.Cost {
			t.Errorf("after retries: %+v, %v; want the one charge", s, err)
		}
		verified(t, l)
	})
}

func TestLedgerAdmitsWhatTheFilterAdmits(t *testing.T) {
	events := map[account.Rule]dp.Event{
		account.Basic:      dp.Laplace{NoiseMultiplier: 13},
		account.GaussianDP: dp.Gaussian{NoiseMultiplier: 33},
		account.Renyi:      dp.PoissonSampled{Rate: 0.1, Event: dp.Gaussian{NoiseMultiplier: 5}},
	}
	for rule, event := range events {
		t.Run(rule.String(), func(t *testing.T) {
			onEach(t, func(t *testing.T, location string) {
				ctx := context.Background()
				l := create(t, location, ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: someBudget, Rule: rule, NoReserve: true})
				f, err := account.NewFilter(dp.ReplaceOne, someBudget, rule, account.FilterOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for n := 0; ; n++ {
					want := f.Charge(t.Context(), event)
					_, got := l.Charge(ctx, ask(event))
					if (want == nil) != (got == nil) {
						t.Fatalf("charge %d: the filter says %v, the ledger %v", n, want, got)
					}
					if got != nil {
						if n < 3 || !errors.Is(got, ledger.ErrBudget) || errors.Is(got, ledger.ErrShare) {
							t.Fatalf("refused at charge %d: %v", n, got)
						}
						break
					}
				}
				s, err := l.State(ctx)
				if err != nil {
					t.Fatal(err)
				}
				spent, err := f.Spent()
				if err != nil || math.Abs(s.Spent.Epsilon/spent.Epsilon-1) > 1e-9 || s.Spent.Epsilon > someBudget.Epsilon || s.Spent.Delta > someBudget.Delta {
					t.Errorf("the ledger spent %v and the filter %v of %v, %v", s.Spent, spent, someBudget, err)
				}
				verified(t, l)
			})
		})
	}
}

func TestRefusalSaysWhatStillFits(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: someBudget})
		if _, err := l.Charge(ctx, ask(dp.Gaussian{NoiseMultiplier: 20})); err != nil {
			t.Fatal(err)
		}
		for name, event := range map[string]dp.Event{
			"gaussian": dp.Gaussian{NoiseMultiplier: 3},
			"tree":     dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 5}, dp.SelfComposed{Count: 9, Event: dp.Gaussian{NoiseMultiplier: 9}}}},
			"reserve":  dp.Laplace{NoiseMultiplier: 3},
			"black box": dp.ApproximateDP{
				Epsilon: 0.5, Delta: 1e-9},
		} {
			c := ask(event)
			c.Delta = 1e-7
			_, err := l.Charge(ctx, c)
			var refused *ledger.RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("%s: %v; want a RefusedError", name, err)
			}
			t.Log(err)
			fits := func(e dp.Event) error { return l.Fits(ctx, ask(e)) }
			if e, ok := event.(dp.ApproximateDP); ok {
				if err := fits(dp.ApproximateDP{Epsilon: refused.Epsilon, Delta: e.Delta}); err != nil || refused.Fitting != nil {
					t.Errorf("%s: what would fit does not: %v", name, err)
				}
				if err := fits(dp.ApproximateDP{Epsilon: math.Nextafter(refused.Epsilon, 2), Delta: e.Delta}); err == nil {
					t.Errorf("%s: epsilon %v is not the largest that fits", name, refused.Epsilon)
				}
				continue
			}
			if err := fits(refused.Fitting); err != nil {
				t.Errorf("%s: %v would fit, it says, and it does not: %v", name, refused.Fitting, err)
			}
			if c.Event, _ = scaled(refused.Fitting, 0.998); fits(c.Event) == nil {
				t.Errorf("%s: less noise than %v would fit as well", name, refused.Fitting)
			}
			if _, own := event.(dp.Gaussian); own {
				mu, err := account.GaussianMu(dp.Budget{Epsilon: refused.Epsilon, Delta: refused.Delta})
				if err != nil {
					t.Fatal(err)
				}
				if err := fits(dp.Gaussian{NoiseMultiplier: 2 / mu.Lower * (1 + 1e-9)}); err != nil {
					t.Errorf("%s: epsilon %v at delta %v does not fit: %v", name, refused.Epsilon, refused.Delta, err)
				}
			}
		}
		s, err := l.State(ctx)
		if err != nil || s.Charges != 1 {
			t.Errorf("refusals left %+v, %v", s, err)
		}
	})
}

// scaled multiplies the noise of the events in this file's tests.
func scaled(e dp.Event, by float64) (dp.Event, bool) {
	switch e := e.(type) {
	case dp.Gaussian:
		return dp.Gaussian{NoiseMultiplier: e.NoiseMultiplier * by}, true
	case dp.Laplace:
		return dp.Laplace{NoiseMultiplier: e.NoiseMultiplier * by}, true
	case dp.SelfComposed:
		child, ok := scaled(e.Event, by)
		return dp.SelfComposed{Count: e.Count, Event: child}, ok
	case dp.Composed:
		var all []dp.Event
		for _, child := range e.Events {
			x, ok := scaled(child, by)
			if !ok {
				return nil, false
			}
			all = append(all, x)
		}
		return dp.Composed{Events: all}, true
	}
	return nil, false
}

func TestChargesOfAnotherKindAreRefused(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		for name, c := range map[string]struct {
			change func(*ledger.Charge)
			want   error
		}{
			"adjacency":    {func(c *ledger.Charge) { c.Adjacency = dp.AddRemoveOne }, ledger.ErrAdjacency},
			"no adjacency": {func(c *ledger.Charge) { c.Adjacency = 0 }, ledger.ErrAdjacency},
			"unit":         {func(c *ledger.Charge) { c.Unit = "event" }, ledger.ErrUnit},
			"no key":       {func(c *ledger.Charge) { c.Key = " " }, ledger.ErrCharge},
			"no analyst":   {func(c *ledger.Charge) { c.Analyst = "" }, ledger.ErrCharge},
			"no event":     {func(c *ledger.Charge) { c.Event = nil }, dp.ErrEvent},
			"bad event":    {func(c *ledger.Charge) { c.Event = dp.Gaussian{} }, dp.ErrEvent},
			"newline":      {func(c *ledger.Charge) { c.Key = "a\nb" }, ledger.ErrCharge},
			"zero byte":    {func(c *ledger.Charge) { c.Analyst = "a\x00b" }, ledger.ErrCharge},
			"not UTF-8":    {func(c *ledger.Charge) { c.Purpose = "\xff" }, ledger.ErrCharge},
			"long":         {func(c *ledger.Charge) { c.Purpose = strings.Repeat("x", 5000) }, ledger.ErrCharge},
			"no reserve":   {func(c *ledger.Charge) { c.Event = dp.Laplace{NoiseMultiplier: 1e6} }, ledger.ErrBudget},
			"no delta":     {func(c *ledger.Charge) { c.Event = dp.DiscreteGaussian{Sigma: 1e6, Norm: 1} }, account.ErrUnsupported},
		} {
			charge := ask(dp.Gaussian{NoiseMultiplier: 1000})
			c.change(&charge)
			if _, err := l.Charge(ctx, charge); !errors.Is(err, c.want) {
				t.Errorf("%s: %v; want %v", name, err, c.want)
			}
		}
		odd := ask(dp.Gaussian{NoiseMultiplier: 1000})
		odd.Key, odd.Analyst, odd.Purpose = "<key> & 'co'; --", "Ünïcødé 𝛿 \"x\"", "<script>"
		release(t, l, odd, "x")
		s, err := l.State(ctx)
		if err != nil || s.Charges != 1 {
			t.Errorf("%+v, %v; want the odd charge alone", s, err)
		}
		verified(t, l)
	})
}

func TestRenamedCopyIsNoticed(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		a := create(t, location, ledger.Config{Dataset: "a", Adjacency: dp.ReplaceOne, Budget: someBudget})
		b := create(t, location, ledger.Config{Dataset: "b", Adjacency: dp.ReplaceOne, Budget: someBudget})
		strict := create(t, location, ledger.Config{Dataset: "strict", Adjacency: dp.ReplaceOne, Budget: someBudget, RefuseCopies: true})
		charge := func(l *ledger.Ledger, data string) ([]string, error) {
			c := ask(dp.Gaussian{NoiseMultiplier: 100})
			var err error
			if c.Fingerprint, err = l.FingerprintOf(strings.NewReader(data)); err != nil {
				t.Fatal(err)
			}
			g, err := l.Charge(ctx, c)
			if err != nil {
				return nil, err
			}
			return g.Warnings, nil
		}
		for i, step := range []struct {
			l        *ledger.Ledger
			data     string
			warnings int
			about    string
		}{
			{a, "rows of a", 0, ""}, {a, "rows of a", 0, ""}, {b, "rows of b", 0, ""},
			{b, "rows of a", 2, `charged as dataset ["a"]`}, {a, "rows of a", 1, `charged as dataset ["b"]`},
			{a, "new rows", 1, "not those of earlier charges"}, {a, "new rows", 0, ""}, {strict, "rows of c", 0, ""},
		} {
			got, err := charge(step.l, step.data)
			if err != nil || len(got) != step.warnings || step.warnings > 0 && !strings.Contains(got[0], step.about) {
				t.Errorf("step %d: %q, %v; want %d warnings about %q", i, got, err, step.warnings, step.about)
			}
		}
		if _, err := charge(strict, "rows of a"); !errors.Is(err, ledger.ErrCopy) {
			t.Errorf("a renamed copy: %v; want ErrCopy", err)
		}
		for _, l := range []*ledger.Ledger{a, b, strict} {
			verified(t, l)
		}
	})
}

func TestFingerprintIsKeyed(t *testing.T) {
	location := stores[0].make(t)
	a, b := create(t, location, plain(someBudget)), open(t, location, "trial")
	c := create(t, stores[0].make(t), plain(someBudget))
	print := func(l *ledger.Ledger, parts ...string) string {
		f := l.Fingerprint()
		for _, p := range parts {
			fmt.Fprint(f, p)
		}
		return f.String()
	}
	if print(a, "rows", " and rows") != print(b, "rows and rows") {
		t.Error("the same content in other pieces, or of another process, has another fingerprint")
	}
	if print(a, "rows") == print(a, "Rows") || print(a, "rows") == print(c, "rows") {
		t.Error("other content, or another store's key, gives the same fingerprint")
	}
	// What names the key differs anyway: what is keyed has to differ as well, or a
	// guess of the data could be tested against a fingerprint.
	hash := func(fingerprint string) string { return fingerprint[strings.Index(fingerprint, ":")+1:] }
	if hash(print(a, "rows")) == hash(print(c, "rows")) || hash(print(a, "rows")) == fmt.Sprintf("%x", sha256.Sum256([]byte("rows"))) {
		t.Error("a fingerprint is a hash of the data that anybody can make")
	}
}
