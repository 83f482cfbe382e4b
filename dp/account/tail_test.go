package account_test

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// checkDeltaFalls walks up epsilon to where delta has fallen by 40 decades: no upper
// end is above one at a smaller epsilon, but for the width that brackets have.
func checkDeltaFalls(t interface{ Fatalf(string, ...any) }, adj dp.Adjacency, event dp.Event, count int64, first, step float64) {
	a := account.New(adj)
	if err := a.Compose(context.Background(), event, count); err != nil {
		t.Fatalf("%v", err)
	}
	least, at := 1.0, 0.0
	for epsilon := first; epsilon < 500 && least > 1e-40; epsilon = epsilon*step + .05 {
		b, err := a.Delta(context.Background(), epsilon)
		if err != nil || b.Upper > least*1.02 {
			t.Fatalf("%v, %d of %+v: delta(%v) in %v, %v; at %v it was up to %v", adj, count, event, epsilon, b, err, at, least)
		}
		least, at = min(least, b.Upper), epsilon
	}
}

func TestDeltaFallsWithEpsilon(t *testing.T) {
	checkDeltaFalls(t, dp.AddRemoveOne, sgd(.01, 1), 1000, .3, 1.6)
	checkDeltaFalls(t, dp.ReplaceOne, sgd(.43, 1), 70, 5, 1.5)
}

// TestDeltaOfDPSGDAtLargeEpsilon: Chernoff's bound from the binomial moments of the
// sampled Gaussian, in logarithms, lies above the truth and near it.
func TestDeltaOfDPSGDAtLargeEpsilon(t *testing.T) {
	const rate, count = .01, 1000.
	chernoff := func(epsilon float64) float64 {
		best := 0.0
		for order := 2; order < 60; order++ {
			// E (1 - q + q e^loss)^order, whose k-th moment is e^(k(k-1)/2).
			log, choose := math.Inf(-1), 0.0
			for k := 0; k <= order; k++ {
				term := choose + float64(k)*math.Log(rate) + float64(order-k)*math.Log1p(-rate) + float64(k*(k-1))/2
				log = max(log, term) + math.Log1p(math.Exp(-math.Abs(log-term)))
				choose += math.Log(float64(order-k)) - math.Log(float64(k+1))
			}
			a := float64(order - 1)
			best = min(best, count*log-a*epsilon-math.Log(a+1)+a*math.Log(a/(a+1)))
		}
		return math.Exp(best)
	}
	a := account.New(dp.AddRemoveOne)
	compose(t, a, sgd(rate, 1), count)
	for _, epsilon := range []float64{4, 7.5, 8.5, 10, 15} {
		b, err := a.Delta(t.Context(), epsilon)
		if bound := chernoff(epsilon); err != nil || b.Upper > bound*1.001 || b.Upper < bound*1e-3 {
			t.Errorf("delta(%v) in %v, %v; Chernoff's bound at whole orders is %v", epsilon, b, err, bound)
		}
	}
}
