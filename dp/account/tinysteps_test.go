package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// At a scale of which e^(-1/scale) underflows all mass is on one step: delta is 1 - e^(epsilon - gap/scale).
func TestDiscreteLaplaceOnOneStep(t *testing.T) {
	for _, scale := range []float64{1e-3, 1.0 / 800, 1e-4, 1e-9} {
		a := account.NewClosedForm(dp.AddRemoveOne)
		compose(t, a, dp.DiscreteLaplace{Scale: scale, Norm: 64}, 1)
		most := 64 / scale
		got, err := a.Epsilon(t.Context(), .1)
		if want := most + math.Log1p(-.1); err != nil || got.Lower > want*(1+0x1p-50) || got.Upper < want*(1-0x1p-50) || got.Upper-got.Lower > most*0x1p-48 {
			t.Errorf("scale %v: epsilon %v, %v; want %v", scale, got, err, want)
		}
		got, err = a.Delta(t.Context(), most-.5)
		if want := -math.Expm1(-.5); err != nil || math.Abs(got.Lower-want) > most*0x1p-48 || math.Abs(got.Upper-want) > most*0x1p-48 {
			t.Errorf("scale %v: delta %v, %v; want %v", scale, got, err, want)
		}
	}
}

// Delta of a sample is at most its rate. Products with a denormal one have no digits: such samples are refused.
func TestSamplesRarerThanFloatsTellAreRefused(t *testing.T) {
	for _, inner := range []dp.Event{dp.Laplace{NoiseMultiplier: 1}, dp.ApproximateDP{Epsilon: 50, Delta: .5}, dp.GaussianDP{Mu: 150}} {
		for rate, want := range map[float64]error{0x1p-1001: account.ErrUncertified, math.SmallestNonzeroFloat64: account.ErrUncertified, 0x1p-1000: nil} {
			a := account.NewPLD(dp.AddRemoveOne)
			if err := a.Compose(t.Context(), dp.PoissonSampled{Rate: rate, Event: inner}, 1); !errors.Is(err, want) {
				t.Errorf("rate %v of %v: %v; want %v", rate, inner, err, want)
				continue
			}
			if got, err := a.Delta(t.Context(), 0); want == nil && (err != nil || got.Lower > rate) {
				t.Errorf("rate %v of %v: delta %v, %v", rate, inner, got, err)
			}
		}
	}
	e := dp.TruncatedPoissonSampled{Population: 9, Rate: 0x1p-1001, Batch: 3, Event: dp.Gaussian{NoiseMultiplier: 1}}
	if err := account.NewPLD(dp.ReplaceOne).Compose(t.Context(), e, 1); !errors.Is(err, account.ErrUncertified) {
		t.Errorf("%v: %v", e, err)
	}
}
