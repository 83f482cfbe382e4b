package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// TestGaussianDPIsTheGaussianMechanismOfItsMu: mu is that of the adjacency, so a
// clipped sum of noise s is of mu 1/s under add_remove_one and 2/s under replace_one.
func TestGaussianDPIsTheGaussianMechanismOfItsMu(t *testing.T) {
	for adj, mu := range map[dp.Adjacency]float64{dp.AddRemoveOne: .5, dp.ReplaceOne: 1} {
		want := ask(t, adj, dp.Gaussian{NoiseMultiplier: 2}, 3, "epsilon", 0, 1e-6)
		for _, e := range []dp.Event{
			dp.SelfComposed{Count: 3, Event: dp.GaussianDP{Mu: mu}},
			dp.Composed{Events: []dp.Event{dp.GaussianDP{Mu: mu}, dp.SelfComposed{Count: 2, Event: dp.Gaussian{NoiseMultiplier: 2}}}},
		} {
			if got := ask(t, adj, e, 1, "epsilon", 0, 1e-6); math.Abs(got.Upper/want.Upper-1) > 1e-9 || math.Abs(got.Lower/want.Lower-1) > 1e-9 {
				t.Errorf("%v: %+v: %v; Gaussian noise has %v", adj, e, got, want)
			}
		}
		beside := dp.Composed{Events: []dp.Event{dp.GaussianDP{Mu: mu}, dp.Laplace{NoiseMultiplier: 3}}}
		noise := dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 2}, dp.Laplace{NoiseMultiplier: 3}}}
		if got, want := ask(t, adj, beside, 1, "epsilon", 0, 1e-6), ask(t, adj, noise, 1, "epsilon", 0, 1e-6); math.Abs(got.Upper/want.Upper-1) > 1e-6 {
			t.Errorf("%v: beside Laplace noise %v; Gaussian noise has %v", adj, got, want)
		}
	}
	sampled := dp.PoissonSampled{Rate: .1, Event: dp.GaussianDP{Mu: .5}}
	got, want := ask(t, dp.AddRemoveOne, sampled, 30, "epsilon", 0, 1e-6), ask(t, dp.AddRemoveOne, sgd(.1, 2), 30, "epsilon", 0, 1e-6)
	if math.Abs(got.Upper/want.Upper-1) > 1e-6 {
		t.Errorf("sampled %v; Gaussian noise has %v", got, want)
	}
	if err := account.New(dp.ReplaceOne).Compose(t.Context(), sampled, 1); !errors.Is(err, account.ErrUnsupported) {
		t.Errorf("sampled under replace_one: %v; want ErrUnsupported", err)
	}
}

// TestZeroConcentratedLiesBetweenGaussianNoiseAndTheSimpleBound: a Gaussian of mu is
// mu^2/2-zCDP, so no bound may be below its epsilon; and rho + 2 sqrt(rho ln(1/delta))
// always holds (Bun and Steinke 2016, Proposition 1.3).
func TestZeroConcentratedLiesBetweenGaussianNoiseAndTheSimpleBound(t *testing.T) {
	for _, rho := range []float64{1e-4, .01, .1, 1, 10} {
		for _, delta := range []float64{1e-3, 1e-6, 1e-10} {
			e := dp.Composed{Events: []dp.Event{dp.ZeroConcentratedDP{Rho: rho / 4}, dp.ZeroConcentratedDP{Rho: rho / 2}, dp.Gaussian{NoiseMultiplier: 1 / math.Sqrt(rho/2)}}}
			a := account.New(dp.AddRemoveOne)
			compose(t, a, e, 1)
			b, err := a.Epsilon(t.Context(), delta)
			least, err2 := account.GaussianEpsilon(math.Sqrt(2*rho), delta)
			simple := rho + 2*math.Sqrt(-rho*math.Log(delta))
			if err != nil || err2 != nil || b.Lower != 0 || b.Upper < least.Lower || b.Upper > simple || a.String() != "rdp" {
				t.Errorf("rho %v, delta %v: %v by %v, %v; want between %v and %v", rho, delta, b, a, err, least, simple)
			}
		}
	}
	for _, e := range []dp.Event{
		dp.PoissonSampled{Rate: .1, Event: dp.ZeroConcentratedDP{Rho: 1}},
		dp.Composed{Events: []dp.Event{dp.ZeroConcentratedDP{Rho: 1}, dp.PoissonSampled{Rate: .1, Event: dp.Laplace{NoiseMultiplier: 1}}}},
	} {
		if err := account.New(dp.AddRemoveOne).Compose(t.Context(), e, 1); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%+v: %v; want ErrUnsupported", e, err)
		}
	}
}

// TestFiltersAddUpMu: a Gaussian filter takes what is known by its mu, and holds
// exactly as many of them as of the noise they stand for.
func TestFiltersAddUpMu(t *testing.T) {
	many := func(e dp.Event) int {
		f, err := account.NewFilter(dp.ReplaceOne, dp.Budget{Epsilon: 1, Delta: 1e-6}, account.GaussianDP, account.FilterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for f.Charge(t.Context(), e) == nil {
			n++
		}
		return n
	}
	if a, b := many(dp.GaussianDP{Mu: .0507}), many(dp.Gaussian{NoiseMultiplier: 2 / .0507}); a != b || a < 5 {
		t.Errorf("%d charges of a mu, %d of its noise", a, b)
	}
}
