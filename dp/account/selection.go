package account

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account/internal/lossdist"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// pureLoss returns the largest privacy loss, rounded up, of an event that is known by
// it alone.
func pureLoss(leaf dp.Event) (epsilon float64, ok bool) {
	switch e := leaf.(type) {
	case dp.PureDP:
		return e.Epsilon, true
	case dp.PermuteAndFlip:
		return e.Epsilon, true
	case dp.ReportNoisyMax:
		// The noise of the candidate must exceed a threshold, which its own score and
		// the largest of the others' move by one sensitivity each; together by one
		// where they move the same way.
		moves := 2.0
		if e.Monotone {
			moves = 1
		}
		return xmath.DivUp(xmath.MulUp(moves, e.Sensitivity), e.Scale), true
	}
	return 0, false
}

// pureProfile is the profile of the worst mechanism of a largest privacy loss. Of a
// choice it is an upper bound: nothing is claimed of what it realises.
func pureProfile(leaf dp.Event, epsilon float64) *eventProfile {
	p := approximateProfile(dp.ApproximateDP{Epsilon: epsilon})
	p.event = leaf
	if _, class := leaf.(dp.PureDP); class {
		return p
	}
	delta := p.delta
	p.delta = func(epsilon float64) Bracket { return Bracket{0, delta(epsilon).Upper} }
	return p
}

// pureLaw is the pair of the same.
func pureLaw(leaf dp.Event, epsilon float64, v view) lossdist.Law {
	if _, class := leaf.(dp.PureDP); !class && !v.dominates {
		return lossdist.Atoms{{P: 1, Q: 1}}
	}
	return lossdist.Approximate(epsilon, 0)
}

// boundedRangeProfile is the largest profile of all pairs of bounded range: at eps it is
// that of the two losses (e0+eps)/2 and (eps-e0)/2,
// (1 - e^((eps-e0)/2))^2/(1 - e^-e0).
func boundedRangeProfile(e dp.Exponential) *eventProfile {
	return &eventProfile{event: e, most: e.Epsilon, delta: func(epsilon float64) Bracket {
		if epsilon >= e.Epsilon {
			return Bracket{}
		}
		gap := math.Expm1((epsilon - e.Epsilon) / 2)
		// The difference of neighbouring numbers is exact; a denormal square is not.
		b := outside(gap/math.Expm1(-e.Epsilon)*-gap, singleError)
		if b.Upper < 0x1p-1000 {
			b = Bracket{0, 0x1p-999}
		}
		return b
	}}
}

// boundedRangeRenyi is the largest Renyi divergence of all pairs of two losses t and
// t - epsilon, met at the t of which e^t is
// ((a-1)/a) (1 - e^(-a epsilon))/(e^-epsilon - e^(-a epsilon)); all pairs of bounded
// range are mixtures of those. By Hoeffding's lemma it is at most a epsilon^2/8 (Cesar and Rogers 2021).
func boundedRangeRenyi(order, epsilon float64) float64 {
	simple := min(xmath.MulUp(order, xmath.MulUp(xmath.MulUp(epsilon, epsilon), 0.125)), epsilon)
	whole := xmath.Log1mExp(-order * epsilon)
	top := epsilon + math.Log1p(-1/order) + whole - xmath.Log1mExp(-(order-1)*epsilon)
	log := (order-1)*top + whole - math.Log(order) - xmath.Log1mExp(-epsilon)
	size := (order-1)*(epsilon+2/order+math.Abs(whole)+math.Abs(xmath.Log1mExp(-(order-1)*epsilon))) +
		math.Abs(whole) + math.Log(order) + math.Abs(xmath.Log1mExp(-epsilon))
	return lesser(simple, xmath.Up((max(log, 0)+size*0x1p-48)/(order-1), 4))
}

// mostOdds is the number of pairs of two losses that the lower end of a composition of
// bounded-range choices tries.
const mostOdds = 4

// boundedRangeLaw is the pair that dominates choices of bounded range, or one that is
// realised, of an upper loss that is a share of epsilon.
func boundedRangeLaw(e dp.Exponential, v view) lossdist.Law {
	if v.dominates {
		return lossdist.BoundedRange{Epsilon: e.Epsilon}
	}
	shares := [mostOdds]float64{.55, .7, .8, .95}
	return lossdist.Odds(e.Epsilon, e.Epsilon*shares[min(v.pick, mostOdds-1)])
}
