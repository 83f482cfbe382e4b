package account

import (
	"context"
	"math"
)

// ProfilePoint is one point of a privacy profile: delta at an epsilon.
type ProfilePoint struct {
	Epsilon float64 `json:"epsilon"`
	Delta   Bracket `json:"delta"`
}

// Profile returns an accountant's delta at each of the epsilons, which must be 0 or above.
func Profile(ctx context.Context, a Accountant, epsilons []float64) ([]ProfilePoint, error) {
	out := make([]ProfilePoint, len(epsilons))
	for i, epsilon := range epsilons {
		delta, err := a.Delta(ctx, epsilon)
		if err != nil {
			return nil, err
		}
		out[i] = ProfilePoint{epsilon, delta}
	}
	return out, nil
}

// TradeOff is a certain bound from below on the trade-off function (Dong, Roth, Su 2022) of a
// mechanism with this profile: a test that distinguishes two neighbours with false-alarm
// probability at most alpha misses with at least the probability returned. Every point of a profile
// gives a bound by two lines (Proposition 2.5 there) and the largest is taken, so more points bring
// it closer to the truth.
func TradeOff(profile []ProfilePoint, alpha float64) float64 {
	best := 0.0
	for _, p := range profile {
		free := 1 - p.Delta.Upper
		best = max(best, free-math.Exp(p.Epsilon)*alpha, math.Exp(-p.Epsilon)*(free-alpha))
	}
	return max(best-0x1p-48, 0)
}
