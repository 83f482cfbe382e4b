package account

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// The best of a secret, random number of runs (Papernot and Steinke 2022). With f the
// generating function of the number of runs, the probability of an output y is
// f(Q(<=y)) - f(Q(<y)), so that the Renyi moment of the best is at most that of one
// run times the largest of f'(q)^a f'(q')^(1-a), over the probabilities q, q' of one
// event under both neighbours, and the probability of no run added
// (docs/proofs/accounting.md).

// selectBestCurve bounds the Renyi divergences of the best of some runs.
func selectBestCurve(ctx context.Context, adj dp.Adjacency, e dp.SelectBest) (func(order float64) float64, error) {
	one := NewRDP(adj)
	if err := one.Compose(ctx, e.Event, 1); err != nil {
		return nil, fmt.Errorf("select_best goes by the Renyi divergences of its event: %w", err)
	}
	if one.leaked > 0 {
		return nil, unsupported(e, "of an event that has a delta of its own: it goes by Renyi divergences, which such an event does not have; describe what is run by an event that has them, such as rdp_curve")
	}
	switch e.Runs {
	case "geometric":
		return negativeBinomial(ctx, one, e.Gamma, 1, 1/e.Gamma), nil
	case "logarithmic":
		return negativeBinomial(ctx, one, e.Gamma, 0, (1-e.Gamma)/e.Gamma/-math.Log(e.Gamma)), nil
	}
	exact := func(float64) float64 { return 1 }
	if square, ok := muTree(adj, e.Event); ok { // of Gaussian noise delta is known without a conversion
		mu := squareRoot(square).Upper
		exact = func(epsilon float64) float64 { return GaussianDelta(mu, epsilon).Upper }
	}
	return poissonRuns(one, e.Mean, exact), nil
}

// negativeBinomial is Theorem 2 there: truncated negative binomial numbers of runs of
// parameters eta and gamma. Any second order gives a bound, 1 among them; the best does for all.
func negativeBinomial(ctx context.Context, one *RDP, gamma, eta, mean float64) func(order float64) float64 {
	inverse := xmath.Up(-math.Log(gamma), 4)
	second := lesser(inverse, one.minimise(ctx, func(order float64) float64 {
		return xmath.Up((1-1/order)*one.Renyi(order)+inverse/order, 8)
	}))
	added := xmath.MulUp(1+eta, second)
	logMean := xmath.Up(max(math.Log(mean), 0), 8) + 0x1p-48
	return func(order float64) float64 {
		return xmath.AddUp(xmath.AddUp(one.Renyi(order), added), xmath.DivUp(logMean, order-1))
	}
}

// poissonRuns is Theorem 6 there, with the probability e^-mean of no run added: for
// any (epsilon, delta) of one run with e^epsilon <= 1 + 1/(order-1). Where delta is known at every epsilon exact says it.
func poissonRuns(one *RDP, mean float64, exact func(epsilon float64) float64) func(order float64) float64 {
	// Delta is converted at a few orders that are fixed once: any of them is sound.
	orders := append([]float64{}, one.stated...)
	for t := -3.0; t <= 14; t += 0.25 {
		orders = append(orders, 1+math.Exp(t))
	}
	divergences := make([]float64, len(orders))
	for i, a := range orders {
		divergences[i] = one.Renyi(a)
	}
	logMean := math.Log(mean)
	return func(order float64) float64 {
		epsilon := xmath.Down(math.Log1p(1/(order-1)), 16)
		log := 0.0
		for i, a := range orders {
			if l := renyiLogDelta(a, divergences[i], epsilon); l < log { // not for a NaN
				log = l
			}
		}
		delta := min(xmath.Up(math.Exp(log), 4), exact(epsilon))
		moment := xmath.MulUp(order-1, xmath.AddUp(one.Renyi(order), xmath.MulUp(mean, delta)))
		size := math.Abs(logMean) + moment + 1
		return xmath.Up((xmath.LogAdd(-mean, logMean+moment)+size*0x1p-48)/(order-1), 4)
	}
}
