package account_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// The trade-off functions of Gaussian and Laplace noise and of randomised response have
// closed forms; the bound from their profiles is never above and comes close.
func TestTradeOffIsBelowTheClosedForms(t *testing.T) {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	quantile := func(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
	for name, c := range map[string]struct {
		event dp.Event
		most  float64
		want  func(alpha float64) float64
	}{
		"gaussian": {dp.Gaussian{NoiseMultiplier: 1}, 8, func(a float64) float64 { return phi(quantile(1-a) - 1) }},
		// A threshold between, at or beyond the two centres, 1 apart.
		"laplace": {dp.Laplace{NoiseMultiplier: 1}, 1, func(a float64) float64 {
			switch e := math.E; {
			case a < 1/(2*e):
				return 1 - e*a
			case a <= .5:
				return 1 / (4 * e * a)
			default:
				return (1 - a) / e
			}
		}},
		"pure": {dp.PureDP{Epsilon: 1}, 1, func(a float64) float64 { return max(1-math.E*a, (1-a)/math.E) }},
	} {
		a := account.New(dp.AddRemoveOne)
		compose(t, a, c.event, 1)
		var epsilons []float64
		for i := range 201 {
			epsilons = append(epsilons, c.most*float64(i)/200)
		}
		profile, err := account.Profile(t.Context(), a, epsilons)
		if err != nil {
			t.Fatal(err)
		}
		for alpha := 0.0; alpha <= 1; alpha += 1. / 64 {
			got, want := account.TradeOff(profile, alpha), c.want(alpha)
			if got > want*(1+1e-12) || got < want-1e-3 {
				t.Errorf("%s: at %v the bound is %v; the closed form %v", name, alpha, got, want)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := account.NewPLD(dp.AddRemoveOne)
	compose(t, a, dp.Laplace{NoiseMultiplier: 1}, 100)
	if _, err := account.Profile(ctx, a, []float64{1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
