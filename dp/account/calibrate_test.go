package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/dp/xie19"
	"github.com/discreet-rl/discreet/internal/oracle"
	"pgregory.net/rapid"
)

func closed(adj dp.Adjacency) func() account.Accountant {
	return func() account.Accountant { return account.NewClosedForm(adj) }
}

func renyi(adj dp.Adjacency) func() account.Accountant {
	return func() account.Accountant { return account.NewRDP(adj) }
}

func TestCalibrateMatchesReference(t *testing.T) {
	tried := 0
	for _, c := range oracles(t) {
		if c.Query != "noise_multiplier" {
			continue
		}
		template, err := dp.ParseTemplate(c.Event)
		if err != nil {
			t.Fatal(err)
		}
		tried++
		budget := dp.Budget{Epsilon: c.Epsilon, Delta: c.Delta}
		if c.Method == "exact_closed_form" {
			got, err := account.Calibrate(t.Context(), template.With, budget, closed(c.Adjacency))
			if err != nil || !within(got, c.Value, 1e-9*c.Value) || got.Upper < c.Value*(1-1e-15) {
				t.Errorf("%s: %v, %v; want %v", c.ID, got, err, c.Value)
			}
		}
		got, err := account.Calibrate(t.Context(), template.With, budget, renyi(c.Adjacency))
		if err != nil || got.Lower != 0 || got.Upper < c.Lower || got.Upper > 4*c.Upper {
			t.Errorf("%s, Renyi: %v, %v; want an upper end somewhat above %v", c.ID, got, err, c.Value)
		}
	}
	if tried != 9 {
		t.Errorf("%d cases; want 9", tried)
	}
}

func TestCalibrateIsSafeAndSharp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := dp.Budget{
			Epsilon: math.Exp(rapid.Float64Range(-5, 4).Draw(t, "ln epsilon")),
			Delta:   math.Exp(rapid.Float64Range(-60, -2).Draw(t, "ln delta")),
		}
		adj := rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(t, "adjacency")
		build := rapid.SampledFrom([]func(float64) (dp.Event, error){
			func(x float64) (dp.Event, error) { return dp.Gaussian{NoiseMultiplier: x}, nil },
			func(x float64) (dp.Event, error) { return dp.Laplace{NoiseMultiplier: x}, nil },
		}).Draw(t, "build")
		b, err := account.Calibrate(t.Context(), build, budget, closed(adj))
		if err != nil {
			t.Fatal(err)
		}
		epsilon := func(multiplier float64) account.Bracket {
			e, _ := build(multiplier)
			a := account.NewClosedForm(adj)
			if err := a.Compose(t.Context(), e, 1); err != nil {
				t.Fatal(err)
			}
			got, err := a.Epsilon(t.Context(), budget.Delta)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if epsilon(b.Upper).Upper > budget.Epsilon {
			t.Fatalf("%v: Upper spends %v of %v", b, epsilon(b.Upper), budget)
		}
		if !(b.Lower > 0) || epsilon(b.Lower).Lower <= budget.Epsilon || b.Upper/b.Lower-1 > 1e-6 {
			t.Fatalf("%v: Lower spends %v of %v", b, epsilon(b.Lower), budget)
		}
	})
}

func TestCalibratePureLaplace(t *testing.T) {
	build := func(x float64) (dp.Event, error) { return dp.Laplace{NoiseMultiplier: x}, nil }
	b, err := account.Calibrate(t.Context(), build, dp.Budget{Epsilon: 0.5}, closed(dp.ReplaceOne))
	if err != nil || !within(b, 4, 1e-8) || b.Upper < 4 {
		t.Errorf("%v, %v; want 4 = 2/0.5", b, err)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	gaussian := func(x float64) (dp.Event, error) { return dp.Gaussian{NoiseMultiplier: x}, nil }
	fixed := func(float64) (dp.Event, error) { return dp.Gaussian{NoiseMultiplier: 1}, nil }
	sampled := func(x float64) (dp.Event, error) {
		return dp.PoissonSampled{Rate: 0.1, Event: dp.Gaussian{NoiseMultiplier: x}}, nil
	}
	for name, c := range map[string]struct {
		build  func(float64) (dp.Event, error)
		budget dp.Budget
		want   error
	}{
		"delta 0":     {gaussian, dp.Budget{Epsilon: 1}, dp.ErrBudget},
		"epsilon 0":   {gaussian, dp.Budget{Delta: 0.1}, dp.ErrBudget},
		"no place":    {fixed, dp.Budget{Epsilon: 0.1, Delta: 1e-6}, dp.ErrBudget},
		"unsupported": {sampled, dp.Budget{Epsilon: 1, Delta: 1e-6}, account.ErrUnsupported},
	} {
		if b, err := account.Calibrate(t.Context(), c.build, c.budget, closed(dp.AddRemoveOne)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, b, err, c.want)
		}
	}
}

func TestLargestCountIsTheLastThatFits(t *testing.T) {
	budget := dp.Budget{Epsilon: 2, Delta: 1e-6}
	for name, c := range map[string]struct {
		event dp.Event
		fresh func() account.Accountant
	}{
		"gaussian": {dp.Gaussian{NoiseMultiplier: 30}, closed(dp.AddRemoveOne)},
		"poisson":  {dp.PoissonSampled{Rate: 0.01, Event: dp.Gaussian{NoiseMultiplier: 1.2}}, renyi(dp.AddRemoveOne)},
		"too big":  {dp.Gaussian{NoiseMultiplier: 0.3}, closed(dp.AddRemoveOne)},
	} {
		n, err := account.LargestCount(t.Context(), c.event, budget, c.fresh)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		upper := func(count int64) float64 {
			a := c.fresh()
			compose(t, a, c.event, count)
			b, err := a.Epsilon(t.Context(), budget.Delta)
			if err != nil {
				t.Fatal(err)
			}
			return b.Upper
		}
		if n > 0 && upper(n) > budget.Epsilon || upper(n+1) <= budget.Epsilon {
			t.Errorf("%s: %d runs", name, n)
		}
	}
	mu, err := account.GaussianMu(budget)
	if err != nil {
		t.Fatal(err)
	}
	n, err := account.LargestCount(t.Context(), dp.Gaussian{NoiseMultiplier: 30}, budget, closed(dp.AddRemoveOne))
	if want := int64(mu.Lower * mu.Lower * 900); err != nil || n != want {
		t.Errorf("%d, %v; want floor(mu^2 900) = %d", n, err, want)
	}
	// More runs than an accountant composes are not certain to fit.
	n, err = account.LargestCount(t.Context(), dp.Laplace{NoiseMultiplier: 1e7}, dp.Budget{Epsilon: 1, Delta: 1e-6},
		func() account.Accountant { return account.New(dp.AddRemoveOne) })
	if err != nil || n != 1<<32 {
		t.Errorf("runs of nearly no loss: %d, %v; want 2^32", n, err)
	}
}

func TestXie19SigmaMatchesReference(t *testing.T) {
	type row struct {
		M          int64   `json:"m"`
		Iterations int64   `json:"iterations"`
		Delta      float64 `json:"delta"`
		Epsilon    float64 `json:"epsilon_claimed"`
		Sigma      float64 `json:"sigma_xie19"`
		Lambda     float64 `json:"lambda_opt"`
		Poisson    float64 `json:"epsilon_true_poisson_add_remove"`
		Lower      float64 `json:"epsilon_true_replace_one_lower"`
	}
	rows := oracle.Load[[]row](t, "testdata/xie19_accountant.json")
	if len(rows) < 10 {
		t.Fatalf("only %d rows", len(rows))
	}
	for i, r := range rows {
		sigma, lambda, err := xie19.Sigma(r.M, r.Iterations, r.Epsilon, r.Delta)
		if err != nil || math.Abs(sigma/r.Sigma-1) > 1e-9 || math.Abs(lambda/r.Lambda-1) > 1e-9 {
			t.Errorf("m %d, N %d, epsilon %v: sigma %v, lambda %v, %v; want %v, %v", r.M, r.Iterations, r.Epsilon, sigma, lambda, err, r.Sigma, r.Lambda)
		}
		if i%everyRow != 0 {
			continue
		}
		// A sound upper bound on the noise's true cost exceeds the true cost,
		// under both readings of the algorithm.
		replace, poisson, err := xie19.Events(r.M, r.Iterations, sigma)
		if err != nil {
			t.Fatal(err)
		}
		a, b := account.NewRDP(dp.ReplaceOne), account.NewRDP(dp.AddRemoveOne)
		compose(t, a, replace, 1)
		compose(t, b, poisson, 1)
		ea, err1 := a.Epsilon(t.Context(), r.Delta)
		eb, err2 := b.Epsilon(t.Context(), r.Delta)
		if err := errors.Join(err1, err2); err != nil || ea.Upper < r.Lower || eb.Upper < r.Poisson*(1-1e-6) {
			t.Errorf("m %d, N %d: Renyi %v and %v, %v; truth at least %v and %v", r.M, r.Iterations, ea, eb, err, r.Lower, r.Poisson)
		}
	}
}

func TestXie19Refuses(t *testing.T) {
	if _, _, err := xie19.Sigma(0, 1, 1, 0.1); !errors.Is(err, dp.ErrEvent) {
		t.Errorf("no trajectories: %v", err)
	}
	if _, _, err := xie19.Sigma(1, 1, 1, 0); !errors.Is(err, dp.ErrBudget) {
		t.Errorf("delta 0: %v", err)
	}
	if _, _, err := xie19.Events(1, 1, 0); !errors.Is(err, dp.ErrEvent) {
		t.Errorf("sigma 0: %v", err)
	}
}

// TestCalibrateWalksThroughNoiseTooSmallToCompose starts a lattice of four
// thousand steps at a scale of one, which the accountant refuses to compose; the
// answer for one run is that of the closed form.
func TestCalibrateWalksThroughNoiseTooSmallToCompose(t *testing.T) {
	build := func(multiplier float64) (dp.Event, error) {
		return dp.DiscreteLaplace{Scale: multiplier, Norm: 4000}, nil
	}
	if one, _ := build(1); !errors.Is(account.NewPLD(dp.AddRemoveOne).Compose(t.Context(), one, 1), account.ErrUncertified) {
		t.Fatal("a multiplier of 1 is composed; the test needs one that is not")
	}
	fresh := func() account.Accountant { return account.NewPLD(dp.AddRemoveOne) }
	b, err := account.Calibrate(t.Context(), build, dp.Budget{Epsilon: 2}, fresh)
	if err != nil || b.Lower > 2000 || b.Upper < 2000 || b.Upper > 2000*(1+1e-9) {
		t.Errorf("%v, %v; want 2000", b, err)
	}
}

// TestCalibrateTemplateFillsAnyPlace: what is found meets the budget, and a little more
// of it does not.
func TestCalibrateTemplateFillsAnyPlace(t *testing.T) {
	budget := dp.Budget{Epsilon: 1, Delta: 1e-6}
	fresh := func() account.Accountant { return account.New(dp.AddRemoveOne) }
	for text, more := range map[string]func(x float64) float64{
		`{"kind":"self_composed","count":1000,"event":{"kind":"poisson_sampled","rate":"?","event":{"kind":"gaussian","noise_multiplier":1}}}`:                           func(x float64) float64 { return x * 1.001 },
		`{"kind":"self_composed","count":"?","event":{"kind":"laplace","noise_multiplier":40}}`:                                                                          func(x float64) float64 { return x + 1 },
		`{"kind":"composed","events":[{"kind":"gaussian","noise_multiplier":9},{"kind":"self_composed","count":"?","event":{"kind":"gaussian","noise_multiplier":50}}]}`: func(x float64) float64 { return x + 1 },
		`{"kind":"discrete_laplace","scale":"?","norm":3}`:                                                                                                               func(x float64) float64 { return x * .999 },
	} {
		template, err := dp.ParseTemplate([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b, err := account.CalibrateTemplate(t.Context(), template, budget, fresh)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		found := b.Lower
		if template.Field() == "scale" {
			found = b.Upper
		}
		meets := func(x float64) bool {
			e, err := template.With(x)
			if err != nil {
				t.Fatal(err)
			}
			return ask(t, dp.AddRemoveOne, e, 1, "epsilon", 0, budget.Delta).Upper <= budget.Epsilon
		}
		if !meets(found) || meets(more(found)) {
			t.Errorf("%s: %v is not where epsilon passes %v", text, b, budget.Epsilon)
		}
	}
	everyone, err := dp.ParseTemplate([]byte(`{"kind":"poisson_sampled","rate":"?","event":{"kind":"gaussian","noise_multiplier":99}}`))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := account.CalibrateTemplate(t.Context(), everyone, budget, fresh); err != nil || b != (account.Bracket{Lower: 1, Upper: 1}) {
		t.Errorf("noise that needs no sampling: rate %v, %v; want 1", b, err)
	}
}

// TestCalibrateFindsTheNearestThatFails: Lower fails for certain, a quarter as far below Upper
// nothing does, and few multipliers are tried for that.
func TestCalibrateFindsTheNearestThatFails(t *testing.T) {
	budget, tried := dp.Budget{Epsilon: 1, Delta: 1e-6}, 0
	build := func(multiplier float64) (dp.Event, error) {
		tried++
		return dp.SelfComposed{Count: 1000, Event: sgd(.02, multiplier)}, nil
	}
	fresh := func() account.Accountant { return account.NewPLD(dp.AddRemoveOne) }
	b, err := account.Calibrate(t.Context(), build, budget, fresh)
	if err != nil || tried > 24 {
		t.Fatalf("%v, %v, after %d multipliers; want at most 24", b, err, tried)
	}
	for multiplier, fails := range map[float64]bool{b.Lower: true, b.Upper - (b.Upper-b.Lower)/4: false} {
		if got := ask(t, dp.AddRemoveOne, sgd(.02, multiplier), 1000, "epsilon", 0, budget.Delta); got.Lower > budget.Epsilon != fails {
			t.Errorf("multiplier %v of %v: epsilon %v; it fails for certain: %t", multiplier, b, got, fails)
		}
	}
}
