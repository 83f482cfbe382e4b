package account

import (
	"context"
	"fmt"
	"math"
	"reflect"
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
	stated []float64 // orders at which an event states a bound: curves may bend there
	rho    float64   // summed slope of the curves that are linear in the order, rounded up
	curves []curve   // of the other events, equal ones merged
	at     map[dp.Event]int
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
	return &RDP{adj: adj, orders: slices.Clone(orders), at: map[dp.Event]int{}}
}

// String implements [Accountant].
func (r *RDP) String() string { return "rdp" }

// Adjacency implements [Accountant].
func (r *RDP) Adjacency() dp.Adjacency { return r.adj }

// Compose implements [Accountant].
func (r *RDP) Compose(ctx context.Context, event dp.Event, count int64) error {
	if err := checkCompose(r.adj, event, count); err != nil {
		return err
	}
	// Nothing is added before every leaf is known to have a curve.
	type run struct {
		leaf  dp.Event
		curve curve
		rho   float64
		delta float64
	}
	var runs []run
	err := leaves(event, count, func(leaf dp.Event, n int64) error {
		x := run{leaf: leaf, curve: curve{count: counted(n).Upper}}
		rho, linear := concentrated(r.adj, leaf)
		if linear {
			x.rho = xmath.MulUp(rho, x.curve.count)
			runs = append(runs, x)
			return nil
		}
		var err error
		x.curve.at, x.delta, err = renyiCurve(ctx, r.adj, leaf)
		runs = append(runs, x)
		return err
	})
	if err != nil {
		return err
	}
	for _, x := range runs {
		r.rho = xmath.AddUp(r.rho, x.rho)
		r.leaked = min(xmath.AddUp(r.leaked, xmath.MulUp(x.delta, x.curve.count)), 1)
		if x.curve.at != nil {
			r.merge(x.leaf, x.curve)
		}
		r.stated = append(r.stated, statedOrders(x.leaf)...)
	}
	return nil
}

// statedOrders are the orders at which an event, or what it runs, states a bound.
func statedOrders(event dp.Event) []float64 {
	switch e := event.(type) {
	case dp.RenyiCurve:
		return e.Orders
	case dp.SelectBest:
		var all []float64
		_ = leaves(e.Event, 1, func(leaf dp.Event, _ int64) error {
			all = append(all, statedOrders(leaf)...)
			return nil
		})
		return all
	}
	return nil
}

// mergeable reports that equal events are known to be equal: those that hold lists,
// such as a sample of a composition, are not compared.
func mergeable(leaf dp.Event) bool { return reflect.ValueOf(leaf).Comparable() }

// merge adds a curve to that of the same event, where there is one.
func (r *RDP) merge(leaf dp.Event, c curve) {
	if mergeable(leaf) {
		if i, ok := r.at[leaf]; ok {
			r.curves[i].count = xmath.AddUp(r.curves[i].count, c.count)
			return
		}
		r.at[leaf] = len(r.curves)
	}
	r.curves = append(r.curves, c)
}

// Renyi returns an upper bound on the Renyi divergence of the given order, over
// all pairs of neighbours, of what was composed. Order must be above 1. The
// deltas of (epsilon, delta) events are not in it.
func (r *RDP) Renyi(order float64) float64 {
	total := xmath.MulUp(order, r.rho)
	for _, c := range r.curves {
		total = xmath.AddUp(total, xmath.MulUp(c.at(order), c.count))
	}
	return total
}

// Epsilon implements [Accountant]; the lower end is 0.
func (r *RDP) Epsilon(ctx context.Context, delta float64) (Bracket, error) {
	if err := checkDelta(delta); err != nil {
		return Bracket{}, err
	}
	if r.rho == 0 && len(r.curves) == 0 {
		return Bracket{}, nil
	}
	left := xmath.AddDown(delta, -r.leaked)
	if !(left > 0) {
		return Bracket{}, fmt.Errorf("%w: delta is %v and the events themselves spend %v; a Renyi accountant needs more than that", dp.ErrBudget, delta, r.leaked)
	}
	best := r.minimise(ctx, func(order float64) float64 { return renyiEpsilon(order, r.Renyi(order), left) })
	if err := ctx.Err(); err != nil {
		return Bracket{}, err
	}
	if math.IsInf(best, 1) || math.IsNaN(best) {
		return Bracket{}, fmt.Errorf("%w: no finite Renyi divergence at any order tried", ErrUncertified)
	}
	return Bracket{0, max(best, 0)}, nil
}

// Delta implements [Accountant]; the lower end is 0.
func (r *RDP) Delta(ctx context.Context, epsilon float64) (Bracket, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Bracket{}, err
	}
	if r.rho == 0 && len(r.curves) == 0 {
		return Bracket{}, nil
	}
	best := r.minimise(ctx, func(order float64) float64 { return renyiLogDelta(order, r.Renyi(order), epsilon) })
	if err := ctx.Err(); err != nil {
		return Bracket{}, err
	}
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

// concentrated returns rho, rounded up, for noise whose Renyi divergence of order
// a is at most a rho: Gaussian noise, where that is exact, what is known by its mu or
// its rho, and discrete Gaussian
// noise on integer vectors of any dimension, l2^2/(2 sigma^2) (Canonne, Kamath,
// Steinke 2020).
func concentrated(adj dp.Adjacency, leaf dp.Event) (rho float64, ok bool) {
	switch e := leaf.(type) {
	case dp.Gaussian:
		return xmath.MulUp(gaussianSquare(adj, e, 1).Upper, 0.5), true
	case dp.TreeAggregation:
		return xmath.MulUp(treeMuSquare(adj, e, 1).Upper, 0.5), true
	case dp.GaussianDP:
		return xmath.MulUp(xmath.MulUp(e.Mu, e.Mu), 0.5), true
	case dp.ZeroConcentratedDP:
		return e.Rho, true
	case dp.DiscreteGaussian:
		norm := e.Norm
		if e.Dimension == 1 {
			norm = math.Floor(norm)
		}
		gap := xmath.DivUp(adj.SumSensitivity(norm), e.Sigma)
		return xmath.MulUp(xmath.MulUp(gap, gap), 0.5), true
	}
	return 0, false
}

// renyiCurve bounds the Renyi divergences of one event that is not concentrated. The second result is a
// delta that is spent beside them.
func renyiCurve(ctx context.Context, adj dp.Adjacency, leaf dp.Event) (at func(order float64) float64, delta float64, err error) {
	if err := defined(adj, leaf); err != nil {
		return nil, 0, err
	}
	switch e := leaf.(type) {
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
	case dp.PureDP, dp.PermuteAndFlip, dp.ReportNoisyMax:
		epsilon, _ := pureLoss(leaf)
		return func(order float64) float64 { return responseRenyi(order, epsilon, 1) }, 0, nil
	case dp.Exponential:
		return func(order float64) float64 { return boundedRangeRenyi(order, e.Epsilon) }, 0, nil
	case dp.SelectBest:
		at, err := selectBestCurve(ctx, adj, e)
		return at, 0, err
	case dp.RenyiCurve:
		return func(order float64) float64 { return knownRenyi(e, order) }, 0, nil
	case dp.PrivacyLoss:
		if law := givenLaw(e); math.IsInf(law[len(law)-1].Loss.Value, 1) {
			return nil, 0, unsupported(e, "has losses without bound, so that no Renyi divergence is finite"+takenByPLD(adj, e))
		}
		return func(order float64) float64 { return givenRenyi(e, order) }, 0, nil
	case dp.SmoothGaussian, dp.Shuffled:
		return nil, 0, unsupported(leaf, "has no Renyi curve here; "+smoothRemedy)
	case dp.PoissonSampled:
		return sampledCurve(adj, leaf, e.Rate, e.Event)
	case dp.TruncatedPoissonSampled:
		at, err := truncatedCurve(adj, e)
		return at, 0, err
	case dp.SampledWithoutReplacement:
		// The rate rounded up: the divergence grows with it.
		rate := xmath.DivUp(counted(e.Sample).Upper, counted(e.Population).Lower)
		return sampledCurve(adj, leaf, min(rate, 1), e.Event)
	}
	return nil, 0, unsupported(leaf, "has no Renyi curve here"+takenByPLD(adj, leaf))
}

// sampledCurve accounts for Gaussian noise, plain or composed, on a sample.
func sampledCurve(adj dp.Adjacency, leaf dp.Event, rate float64, inner dp.Event) (func(float64) float64, float64, error) {
	if err := checkCompose(adj, inner, 1); err != nil {
		return nil, 0, err
	}
	square, ok := gaussianTree(adj, inner, 1)
	if !ok {
		return nil, 0, unsupported(leaf, "of an event other than Gaussian noise has no Renyi curve here"+takenByPLD(adj, leaf))
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

// hasRenyi reports that the event has a Renyi curve.
func hasRenyi(adj dp.Adjacency, event dp.Event) bool {
	if defined(adj, event) != nil {
		return false
	}
	switch e := event.(type) {
	case dp.Gaussian, dp.GaussianDP, dp.TreeAggregation, dp.ZeroConcentratedDP, dp.DiscreteGaussian, dp.Laplace, dp.DiscreteLaplace, dp.RandomizedResponse, dp.ApproximateDP,
		dp.PureDP, dp.RenyiCurve, dp.Exponential, dp.PermuteAndFlip, dp.ReportNoisyMax:
		return true
	case dp.SelectBest:
		_, err := selectBestCurve(context.Background(), adj, e)
		return err == nil
	case dp.PoissonSampled:
		_, ok := gaussianTree(adj, e.Event, 1)
		return ok
	case dp.TruncatedPoissonSampled:
		return checkTruncated(e) == nil
	case dp.SampledWithoutReplacement:
		_, ok := gaussianTree(adj, e.Event, 1)
		return ok
	}
	return false
}

// takenByPLD points to the loss distributions where they cover the event, and
// nowhere else.
func takenByPLD(adj dp.Adjacency, event dp.Event) string {
	if reduced, err := reduce(event); err == nil {
		if _, err = newPLD(adj).needs(context.Background(), reduced); err == nil {
			return "; the pld accountant takes it"
		}
	}
	return ""
}
