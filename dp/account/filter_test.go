package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"pgregory.net/rapid"
)

func newFilter(t testing.TB, budget dp.Budget, rule account.Rule, o account.FilterOptions) *account.Filter {
	t.Helper()
	f, err := account.NewFilter(dp.AddRemoveOne, budget, rule, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// chargeAll charges until the filter refuses and returns how often it did not.
func chargeAll(t testing.TB, f *account.Filter, e dp.Event) int {
	t.Helper()
	for n := 0; ; n++ {
		if n > 100000 {
			t.Fatal("the filter never refuses")
		}
		before := f.Remaining()
		if err := f.Charge(t.Context(), e); err != nil {
			if !errors.Is(err, account.ErrExhausted) {
				t.Fatal(err)
			}
			if after := f.Remaining(); after != before {
				t.Fatalf("a refusal changed %v to %v", before, after)
			}
			return n
		}
	}
}

func TestFiltersAdmitWhatTheirTheoremAdmits(t *testing.T) {
	budget := dp.Budget{Epsilon: 2, Delta: 1e-6}
	gaussian := dp.Gaussian{NoiseMultiplier: 40}
	mu, err := account.GaussianMu(budget)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := chargeAll(t, newFilter(t, budget, account.GaussianDP, account.FilterOptions{}), gaussian), int(mu.Lower*mu.Lower*1600); got != want {
		t.Errorf("gaussian rule: %d charges; want floor(mu^2 1600) = %d", got, want)
	}
	// The Renyi rule at its order: eps + ln(a/(a-1)) + ln(delta a)/(a-1) of divergence, a/3200 a charge.
	f := newFilter(t, budget, account.Renyi, account.FilterOptions{Order: 12})
	if got, want := chargeAll(t, f, gaussian), int((2+math.Log(12./11)+math.Log(1e-6*12)/11)*3200/12); got != want {
		t.Errorf("renyi rule at order 12: %d charges; want %d", got, want)
	}
	best := newFilter(t, budget, account.Renyi, account.FilterOptions{})
	if got := chargeAll(t, best, gaussian); got < int(0.8*mu.Lower*mu.Lower*1600) {
		t.Errorf("renyi rule at order %v: only %d charges", best.Order(), got)
	}
	best = newFilter(t, budget, account.Renyi, account.FilterOptions{})
	for _, order := range []float64{best.Order() * 0.9, best.Order() * 1.1} {
		if other := newFilter(t, budget, account.Renyi, account.FilterOptions{Order: order}); other.Remaining().Mu > best.Remaining().Mu {
			t.Errorf("order %v leaves more than the default %v", order, best.Order())
		}
	}
	if got := chargeAll(t, newFilter(t, budget, account.Basic, account.FilterOptions{}), dp.Laplace{NoiseMultiplier: 8}); got != 16 {
		t.Errorf("basic rule: %d Laplace charges of 1/8; want 16", got)
	}
	half := dp.ApproximateDP{Epsilon: 0.125, Delta: 0x1p-22}
	if got := chargeAll(t, newFilter(t, budget, account.Basic, account.FilterOptions{}), half); got != 4 {
		t.Errorf("basic rule: %d charges of delta 2^-22; want 4", got)
	}
}

func TestFilterRefusesByNameWhatItCannotTake(t *testing.T) {
	budget := dp.Budget{Epsilon: 2, Delta: 1e-6}
	smooth := dp.SmoothGaussian{Alpha: 9, Beta: 0.01, Dimension: 3}
	for name, c := range map[string]struct {
		rule  account.Rule
		o     account.FilterOptions
		event dp.Event
	}{
		"laplace, gaussian rule":        {account.GaussianDP, account.FilterOptions{}, dp.Laplace{NoiseMultiplier: 100}},
		"mixed tree, gaussian rule":     {account.GaussianDP, account.FilterOptions{}, dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 90}, dp.Laplace{NoiseMultiplier: 100}}}},
		"smooth, renyi rule":            {account.Renyi, account.FilterOptions{}, smooth},
		"approximate, renyi rule":       {account.Renyi, account.FilterOptions{}, dp.ApproximateDP{Epsilon: 0.01, Delta: 1e-9}},
		"gaussian, basic rule":          {account.Basic, account.FilterOptions{}, dp.Gaussian{NoiseMultiplier: 100}},
		"two smooth, no delta for them": {account.Basic, account.FilterOptions{}, dp.SelfComposed{Count: 2, Event: smooth}},
		"response under add_remove_one": {account.Basic, account.FilterOptions{}, dp.RandomizedResponse{Buckets: 2, NoiseParameter: 0.9}},
	} {
		f := newFilter(t, budget, c.rule, c.o)
		before := f.Remaining()
		if err := f.Charge(t.Context(), c.event); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%s: %v; want ErrUnsupported", name, err)
		}
		if f.Remaining() != before {
			t.Errorf("%s: the refusal spent something", name)
		}
	}
}

func TestReserveTakesWhatTheRuleCannot(t *testing.T) {
	budget := dp.Budget{Epsilon: 2, Delta: 1e-6}
	f := newFilter(t, budget, account.GaussianDP, account.FilterOptions{Reserve: dp.Budget{Epsilon: 0.5, Delta: 5e-7}, ChargeDelta: 1e-7})
	if err := f.Charge(t.Context(), dp.Laplace{NoiseMultiplier: 4}); err != nil {
		t.Fatal(err)
	}
	mixed := dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 90}, dp.Laplace{NoiseMultiplier: 100}}}
	if err := f.Charge(t.Context(), mixed); err != nil {
		t.Fatal(err)
	}
	left := f.Remaining().Basic
	if !(left.Epsilon > 0.1 && left.Epsilon < 0.25) || math.Abs(left.Delta-4e-7) > 1e-15 {
		t.Errorf("left of the reserve: %v", left)
	}
	if err := f.Charge(t.Context(), dp.Laplace{NoiseMultiplier: 3}); !errors.Is(err, account.ErrExhausted) {
		t.Errorf("beyond the reserve: %v; want ErrExhausted", err)
	}
	part, err := account.GaussianMu(dp.Budget{Epsilon: 1.5, Delta: 5e-7})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := chargeAll(t, f, dp.Gaussian{NoiseMultiplier: 40}), int(part.Lower*part.Lower*1600); got != want {
		t.Errorf("%d Gaussian charges beside the reserve; want %d", got, want)
	}
	spent, err := f.Spent()
	if err != nil || spent.Epsilon > budget.Epsilon || spent.Delta > budget.Delta || spent.Epsilon < 1.7 {
		t.Errorf("spent %v, %v", spent, err)
	}
}

func TestFilterNeverExceedsItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := dp.Budget{
			Epsilon: math.Exp(rapid.Float64Range(-4, 2).Draw(t, "ln epsilon")),
			Delta:   math.Exp(rapid.Float64Range(-30, -6).Draw(t, "ln delta")),
		}
		adj := rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(t, "adjacency")
		rule := rapid.SampledFrom([]account.Rule{account.GaussianDP, account.Renyi}).Draw(t, "rule")
		f, err := account.NewFilter(adj, budget, rule, account.FilterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// The charges taken together, accounted for exactly: what an adaptive
		// rule admits must fit when nothing was adaptive.
		total := account.NewClosedForm(adj)
		for range 60 {
			noise := math.Exp(rapid.Float64Range(-1, 6).Draw(t, "ln noise")) / budget.Epsilon
			e := dp.Gaussian{NoiseMultiplier: noise}
			fits := f.Fits(t.Context(), e)
			err := f.Charge(t.Context(), e)
			if (fits == nil) != (err == nil) {
				t.Fatalf("Fits says %v, Charge says %v", fits, err)
			}
			if err != nil {
				if adj.SumSensitivity(1)/noise < f.Remaining().Mu*(1-1e-12) {
					t.Fatalf("refused mu %v with %v left: %v", adj.SumSensitivity(1)/noise, f.Remaining(), err)
				}
				continue
			}
			if err := total.Compose(t.Context(), e, 1); err != nil {
				t.Fatal(err)
			}
			exact, err := total.Epsilon(t.Context(), budget.Delta)
			if err != nil {
				t.Fatal(err)
			}
			spent, err := f.Spent()
			if err != nil || exact.Lower > budget.Epsilon || spent.Epsilon < exact.Lower || spent.Epsilon > budget.Epsilon {
				t.Fatalf("exact %v, spent %v, %v; budget %v", exact, spent, err, budget)
			}
		}
	})
}

func TestNewFilterRefuses(t *testing.T) {
	good := dp.Budget{Epsilon: 1, Delta: 1e-6}
	for name, c := range map[string]struct {
		adj    dp.Adjacency
		budget dp.Budget
		rule   account.Rule
		o      account.FilterOptions
		want   error
	}{
		"adjacency":      {0, good, account.Basic, account.FilterOptions{}, dp.ErrAdjacency},
		"budget":         {dp.ReplaceOne, dp.Budget{}, account.Basic, account.FilterOptions{}, dp.ErrBudget},
		"rule":           {dp.ReplaceOne, good, 0, account.FilterOptions{}, dp.ErrBudget},
		"gaussian pure":  {dp.ReplaceOne, dp.Budget{Epsilon: 1}, account.GaussianDP, account.FilterOptions{}, dp.ErrBudget},
		"all reserved":   {dp.ReplaceOne, good, account.GaussianDP, account.FilterOptions{Reserve: good}, dp.ErrBudget},
		"reserve beyond": {dp.ReplaceOne, good, account.Renyi, account.FilterOptions{Reserve: dp.Budget{Epsilon: 2}}, dp.ErrBudget},
		"order 1":        {dp.ReplaceOne, good, account.Renyi, account.FilterOptions{Order: 1}, dp.ErrBudget},
		"order too low":  {dp.ReplaceOne, good, account.Renyi, account.FilterOptions{Order: 1.5}, dp.ErrBudget},
		"charge delta":   {dp.ReplaceOne, good, account.Basic, account.FilterOptions{ChargeDelta: math.NaN()}, dp.ErrBudget},
	} {
		if f, err := account.NewFilter(c.adj, c.budget, c.rule, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, f, err, c.want)
		}
	}
	for _, r := range []account.Rule{account.Basic, account.GaussianDP, account.Renyi} {
		if got, err := account.ParseRule(r.String()); err != nil || got != r {
			t.Errorf("ParseRule(%v) = %v, %v", r, got, err)
		}
	}
	if _, err := account.ParseRule("pld"); !errors.Is(err, dp.ErrBudget) {
		t.Errorf("ParseRule(pld): %v", err)
	}
}

func BenchmarkFilterCharge(b *testing.B) {
	f := newFilter(b, dp.Budget{Epsilon: 1, Delta: 1e-6}, account.GaussianDP, account.FilterOptions{})
	e := dp.Gaussian{NoiseMultiplier: 1e9}
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Charge(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}
