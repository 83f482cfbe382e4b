package account

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// singleError bounds the relative error of the profiles in this file, each a
// handful of correctly signed operations and one or two exponentials.
const singleError = 32 * 0x1p-52

// lossGap is epsilon - gap/scale with the rounding of the quotient made good, so
// that it keeps its relative accuracy where the two are close.
func lossGap(epsilon, gap, scale float64) float64 {
	q := gap / scale
	s, e := xmath.TwoSum(epsilon, -q)
	return s + (e - math.FMA(-q, scale, gap)/scale)
}

// laplaceProfile: the privacy loss of two Laplace distributions at distance L (in scales) is at
// most L, and delta(eps) = 1 - exp((eps-L)/2) below it. A vector of l1 norm L is no worse than one
// coordinate of L: the trade-off function of a log-concave shift composes into that of the summed
// shift (Dong, Roth, Su 2022, group privacy).
func laplaceProfile(e dp.Laplace, gap float64) *eventProfile {
	p := &eventProfile{event: e, most: xmath.DivUp(gap, e.NoiseMultiplier)}
	p.delta = func(epsilon float64) Bracket {
		if epsilon >= p.most {
			return Bracket{}
		}
		t := min(lossGap(epsilon, gap, e.NoiseMultiplier), 0)
		return outside(-math.Expm1(t/2), singleError)
	}
	return p
}

// discreteLaplaceProfile: with q = e^(-1/scale) and a shift of k steps the loss
// is (k-2x)/scale at 0 <= x <= k, and x <= top is where it exceeds epsilon.
func discreteLaplaceProfile(e dp.DiscreteLaplace, gap float64) *eventProfile {
	q := math.Exp(-1 / e.Scale)
	p := &eventProfile{event: e, most: xmath.DivUp(gap, e.Scale)}
	p.delta = func(epsilon float64) Bracket {
		if epsilon >= p.most || gap == 0 {
			return Bracket{}
		}
		t := min(lossGap(epsilon, gap, e.Scale), 0)
		top := math.Ceil(-t/2*e.Scale) - 1 // halved first: t*scale may overflow
		// A wrong set of outcomes has a smaller hockey-stick value, so the best of
		// a few is right if the right one is among them. Rounding puts top off by a
		// few parts in 2^53: below 2^50 that is one step at most. From there on x
		// need not be exact: the value is stationary at its best x, where it bends
		// by less than its size over (x/top)^2, so that 2^-50 of x costs about
		// 2^-100 of it. (Neighbours then coincide in float64.)
		best := 0.0
		for step := -1.0; step <= 1; step++ {
			x := max(min(top+step, gap-1), 0)
			if mass := discreteLaplaceMass(t, q, e.Scale, x); mass > best { // not for the NaN of a q that underflows: then x is too large
				best = mass
			}
		}
		return outside(best, singleError)
	}
	return p
}

// discreteLaplaceMass is P(X <= x) - e^eps P(X+k <= x), both terms positive, for
// epsilon = k/scale + t and 0 <= x < k.
func discreteLaplaceMass(t, q, scale, x float64) float64 {
	if x == 0 {
		return -math.Expm1(t) / (1 + q)
	}
	return (-math.Expm1(-(x+1)/scale) - q*math.Expm1(t+(x+1)/scale)) / (1 + q)
}

// responseProfile: only the two answers that were true differ, by the factor
// 1 + k(1-p)/p, so delta(eps) = (1-p) - (p/k)(e^eps - 1) while that is positive.
func responseProfile(e dp.RandomizedResponse) *eventProfile {
	k, p := float64(e.Buckets), e.NoiseParameter
	most := xmath.Up(math.Log1p(k*(1-p)/p), 8)
	return &eventProfile{
		event: e,
		most:  most,
		delta: func(epsilon float64) Bracket {
			if epsilon >= most {
				return Bracket{}
			}
			lie := p / k * math.Expm1(epsilon)
			slack := singleError * (1 - p + lie)
			d := 1 - p - lie
			if d <= -slack {
				return Bracket{}
			}
			return Bracket{max(d-slack, 0), min(xmath.Up(max(d+slack, 0), 1), 1)}
		},
	}
}

// approximateProfile: the worst (eps0, delta0)-private mechanism reveals everything with
// probability delta0 and otherwise answers by randomised response (Kairouz, Oh, Viswanath 2015).
func approximateProfile(e dp.ApproximateDP) *eventProfile {
	return &eventProfile{
		event: e,
		most:  e.Epsilon,
		floor: e.Delta,
		delta: func(epsilon float64) Bracket {
			if epsilon >= e.Epsilon {
				return Bracket{e.Delta, e.Delta}
			}
			rest := -math.Expm1(epsilon-e.Epsilon) / (1 + math.Exp(-e.Epsilon)) * (1 - e.Delta)
			return outside(e.Delta+rest, singleError)
		},
	}
}

// outside widens a probability by its relative error.
func outside(x, rel float64) Bracket {
	lower, upper := xmath.Widen(x, rel)
	return Bracket{max(lower, 0), min(upper, 1)}
}
