package hiv

import (
	"fmt"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/sim"
)

// Population draws the parameters of a patient who differs from base. Every
// parameter of the result is finite and not negative, and Kb and Kd are above 0.
type Population func(base Parameters, rng *rand.Rand) Parameters

// Randomised draws patients with K1 in [5e-7, 8e-7], K2 in [1e-5, 1e-4] and F in
// [0.29, 0.34], uniformly and independently.
func Randomised(base Parameters, rng *rand.Rand) Parameters {
	uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	base.K1 = uniform(5e-7, 8e-7)
	base.K2 = uniform(1e-5, 1e-4)
	base.F = uniform(0.29, 0.34)
	return base
}

// Perturbed returns the population in which the twelve parameters lambda1,
// lambda2, k1, k2, f, m1, m2, lambdaE, bE, Kb, dE and Kd are each multiplied by a
// number uniform between 1-spread and 1+spread; spread is in [0, 1). The choice
// of parameters is that of Killian, Daulton, Konidaris and Doshi-Velez, Robust
// and Efficient Transfer Learning with Hidden Parameter Markov Decision
// Processes (2017).
func Perturbed(spread float64) (Population, error) {
	if !(spread >= 0 && spread < 1) {
		return nil, fmt.Errorf("%w: hiv: spread is %v; want 0 or above and below 1", sim.ErrOptions, spread)
	}
	return func(p Parameters, rng *rand.Rand) Parameters {
		for _, v := range []*float64{&p.Lambda1, &p.Lambda2, &p.K1, &p.K2, &p.F, &p.M1, &p.M2,
			&p.LambdaE, &p.BE, &p.Kb, &p.DE, &p.Kd} {
			*v *= 1 + spread*(2*rng.Float64()-1)
		}
		return p
	}, nil
}
