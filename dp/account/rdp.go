package account

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// RDP is the Renyi accountant (Mironov 2017). It bounds from above: the lower
// end of every bracket is 0. The Renyi divergences of the composed events add up
// order by order; they become (epsilon, delta) by Canonne, Kamath and Steinke
// (2020, Proposition 12), minimised over the orders. Each divergence is rounded
// up, by its quadrature error as well where there is a quadrature.
type RDP struct {
	adj    dp.Adjacency
	orders []float64 // nil: any order above 1
	curves []curve
	leaked float64 // summed delta of (epsilon, delta) events, rounded up
}

// curve bounds the Renyi divergence of one event, order by order, from above.
type curve struct {
	at    func(order float64) float64
	count float64 // rounded up
}

// NewRDP returns a Renyi accountant to which nothing is charged yet. Without
// orders it minimises over all real orders above 1; with orders it uses those
// alone. An order that is not above 1 and finite is a programmer's error and
// panics.
func NewRDP(adj dp.Adjacency, orders ...float64) *RDP {
	for _, a := range orders {
		if !(a > 1) || math.IsInf(a, 1) {
			panic(fmt.Sprintf("account: NewRDP: order %v; want a finite number above 1", a))
		}
	}
	return &RDP{adj: adj, orders: slices.Clone(orders)}
}

// String implements [Accountant].
func (r *RDP) String() string { return "rdp" }

// Adjacency implements [Accountant].
func (r *RDP) Adjacency() dp.Adjacency { return r.adj }

// Compose implements [Accountant].
func (r *RDP) Compose(event dp.Event, count int64) error {
	if err := checkCompose(r.adj, event, count); err != nil {
		return err
	}
	curves, leaked := slices.Clone(r.curves), r.leaked
	err := leaves(event, count, func(leaf dp.Event, n int64) error {
		c, delta, err := renyiCurve(r.adj, leaf)
		if err != nil {
			return err
		}
		times := counted(n).Upper
		curves = append(curves, curve{c, times})
		leaked = min(xmath.AddUp(leaked, xmath.MulUp(delta, times)), 1)
		return nil
	})
	if err != nil {
		return err
	}
	r.curves, r.leaked = curves, leaked
	return nil
}

// Renyi returns an upper bound on the Renyi divergence of the given order, over
// all pairs of neighbours, of what was composed. Order must be above 1. The
// deltas of (epsilon, delta) events are not in it.
func (r *RDP) Renyi(order float64) float64 {
	total := 0.0
	for _, c := range r.curves {
		total = xmath.AddUp(total, xmath.MulUp(c.at(order), c.count))
	}
	return total
}

// Epsilon implements [Accountant]; the lower end is 0.
func (r *RDP) Epsilon(delta float64) (Bracket, error) {
	if err := checkDelta(delta); err != nil {
		return Bracket{}, err
	}
	if len(r.curves) == 0 {
		return Bracket{}, nil
	}
	left := xmath.AddDown(delta, -r.leaked)
	if !(left > 0) {
		return Bracket{}, fmt.Errorf("%w: delta is %v and the events themselves spend %v; a Renyi accountant needs more than that", dp.ErrBudget, delta, r.leaked)
	}
	best := r.minimise(func(order float64) float64 { return renyiEpsilon(order, r.Renyi(order), left) })
	if math.IsInf(best, 1) || math.IsNaN(best) {
		return Bracket{}, fmt.Errorf("%w: no finite Renyi divergence at any order tried", ErrUncertified)
	}
	return Bracket{0, max(best, 0)}, nil
}

// Delta implements [Accountant]; the lower end is 0.
func (r *RDP) Delta(epsilon float64) (Bracket, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Bracket{}, err
	}
	if len(r.curves) == 0 {
		return Bracket{}, nil
	}
	best := r.minimise(func(order float64) float64 { return renyiLogDelta(order, r.Renyi(order), epsilon) })
	if math.IsNaN(best) || best > 0 {
		best = 0
	}
	return Bracket{0, min(xmath.AddUp(xmath.Up(math.Exp(best), 4), r.leaked), 1)}, nil
}

// renyiEpsilon converts a divergence of one order, rounding up.
func renyiEpsilon(order, divergence, delta float64) float64 {
	gain := math.Log1p(-1 / order)
	cost := (math.Log(delta) + math.Log(order)) / (order - 1)
	return divergence + gain - cost + 8*0x1p-53*(divergence-gain+(math.Abs(math.Log(delta))+math.Log(order))/(order-1))
}

// renyiLogDelta is the same relation solved for ln delta, rounding up.
func renyiLogDelta(order, divergence, epsilon float64) float64 {
	gain := math.Log1p(-1 / order)
	size := (order-1)*(divergence+epsilon-gain) + math.Log(order)
	return (order-1)*(divergence-epsilon+gain) - math.Log(order) + 8*0x1p-53*size
}

// renyiCurve bounds the Renyi divergences of one event. The second result is a
// delta that is spent beside them.
func renyiCurve(adj dp.Adjacency, leaf dp.Event) (at func(order float64) float64, delta float64, err error) {
	if err := onlyReplace(adj, leaf); err != nil {
		return nil, 0, err
	}
	switch e := leaf.(type) {
	case dp.Gaussian:
		half := xmath.MulUp(gaussianSquare(adj, e, 1).Upper, 0.5)
		return func(order float64) float64 { return xmath.MulUp(order, half) }, 0, nil
	case dp.DiscreteGaussian:
		// Concentrated privacy l2^2/(2 sigma^2), for integer vectors of any
		// dimension (Canonne, Kamath, Steinke 2020).
		gap := xmath.DivUp(adj.SumSensitivity(e.Norm), e.Sigma)
		half := xmath.MulUp(xmath.MulUp(gap, gap), 0.5)
		return func(order float64) float64 { return xmath.MulUp(order, half) }, 0, nil
	case dp.Laplace:
		loss := xmath.DivUp(adj.SumSensitivity(1), e.NoiseMultiplier)
		return func(order float64) float64 { return laplaceRenyi(order, loss) }, 0, nil
	case dp.DiscreteLaplace:
		gap := integerGap(adj, e.Norm)
		return func(order float64) float64 { return discreteLaplaceRenyi(order, gap, e.Scale) }, 0, nil
	case dp.RandomizedResponse:
		k, p := float64(e.Buckets), e.NoiseParameter
		loss := xmath.Up(math.Log1p(k*(1-p)/p), 8)
		// The two answers that differ carry this share of the mass.
		share := min(xmath.Up(1-p+2*p/k, 4), 1)
		return func(order float64) float64 { return responseRenyi(order, loss, share) }, 0, nil
	case dp.ApproximateDP:
		return func(order float64) float64 { return responseRenyi(order, e.Epsilon, 1) }, e.Delta, nil
	case dp.PoissonSampled:
		return sampledCurve(adj, leaf, e.Rate, e.Event)
	case dp.SampledWithoutReplacement:
		// The rate rounded up: the divergence grows with it.
		rate := xmath.DivUp(counted(e.Sample).Upper, counted(e.Population).Lower)
		return sampledCurve(adj, leaf, min(rate, 1), e.Event)
	}
	return nil, 0, unsupported(leaf, "has no Renyi curve here; use the PLD accountant")
}

// sampledCurve accounts for Gaussian noise, plain or composed, on a sample.
func sampledCurve(adj dp.Adjacency, leaf dp.Event, rate float64, inner dp.Event) (func(float64) float64, float64, error) {
	if err := checkCompose(adj, inner, 1); err != nil {
		return nil, 0, err
	}
	square, ok := gaussianTree(adj, inner, 1)
	if !ok {
		return nil, 0, unsupported(leaf, "of an event other than Gaussian noise has no Renyi curve here; use the PLD accountant")
	}
	mu := squareRoot(square).Upper
	if rate == 1 { // everybody is in the sample
		half := xmath.MulUp(square.Upper, 0.5)
		return func(order float64) float64 { return xmath.MulUp(order, half) }, 0, nil
	}
	if adj == dp.AddRemoveOne {
		return func(order float64) float64 { return poissonRenyi(order, rate, mu) }, 0, nil
	}
	return func(order float64) float64 { return exchangeRenyi(order, rate, mu) }, 0, nil
}
