package account_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// A second opinion on brackets: hockey-stick divergences of small compositions, added up over all
// outcomes in rational numbers. e^epsilon enters by rational bounds, so that the sums are
// bounds, not roundings. Nothing of the accountant's code is used.

// exponential bounds e^x, for a rational 0 <= x < 1, by its Taylor series with the rest's bound.
func exponential(x *big.Rat) (lower, upper *big.Rat) {
	sum, term := big.NewRat(1, 1), big.NewRat(1, 1)
	for n := int64(1); n <= 40; n++ {
		term = new(big.Rat).Mul(term, new(big.Rat).Mul(x, big.NewRat(1, n)))
		sum = new(big.Rat).Add(sum, term)
	}
	// The rest is at most term x/41/(1 - x/42) < term.
	return sum, new(big.Rat).Add(sum, term)
}

// pair is two laws on finitely many outcomes.
type pair struct{ p, q []*big.Rat }

// times is the law of both of two independent outcomes.
func (a pair) times(b pair) pair {
	var out pair
	for i := range a.p {
		for j := range b.p {
			out.p = append(out.p, new(big.Rat).Mul(a.p[i], b.p[j]))
			out.q = append(out.q, new(big.Rat).Mul(a.q[i], b.q[j]))
		}
	}
	return out
}

// sampled mixes the first law with the second, both orders of which neighbours can have.
func (a pair) sampled(rate *big.Rat) pair {
	rest := new(big.Rat).Sub(big.NewRat(1, 1), rate)
	out := pair{q: a.q}
	for i := range a.p {
		out.p = append(out.p, new(big.Rat).Add(new(big.Rat).Mul(rate, a.p[i]), new(big.Rat).Mul(rest, a.q[i])))
	}
	return out
}

func (a pair) reversed() pair { return pair{a.q, a.p} }

// delta bounds the hockey-stick divergence at e^epsilon between low and high.
func (a pair) delta(low, high *big.Rat) (lower, upper float64) {
	sum := [2]*big.Rat{new(big.Rat), new(big.Rat)}
	for i := range a.p {
		for k, e := range [2]*big.Rat{high, low} {
			if d := new(big.Rat).Sub(a.p[i], new(big.Rat).Mul(e, a.q[i])); d.Sign() > 0 {
				sum[k].Add(sum[k], d)
			}
		}
	}
	lower, _ = sum[0].Float64()
	upper, _ = sum[1].Float64()
	return math.Nextafter(lower, 0), math.Nextafter(upper, 2)
}

// rationalResponse is randomised response with noise parameter x: two of the outcomes differ.
func rationalResponse(buckets int64, x *big.Rat) pair {
	lie := new(big.Rat).Mul(x, big.NewRat(1, buckets))
	truth := new(big.Rat).Add(new(big.Rat).Sub(big.NewRat(1, 1), x), lie)
	out := pair{[]*big.Rat{truth, lie}, []*big.Rat{lie, truth}}
	if buckets > 2 {
		rest := new(big.Rat).Mul(lie, big.NewRat(buckets-2, 1))
		out.p, out.q = append(out.p, rest), append(out.q, rest)
	}
	return out
}

func TestBracketsHoldRationalSums(t *testing.T) {
	float := func(x *big.Rat) float64 { f, _ := x.Float64(); return f }
	given := func(a pair) dp.Event { // its own loss, with what rounding lacks beyond any loss
		e := dp.PrivacyLoss{}
		for i := range a.p {
			loss, mass := math.Log(float(a.p[i])/float(a.q[i])), float(a.p[i])
			e.Losses, e.Masses = append(e.Losses, loss), append(e.Masses, mass)
		}
		return e
	}
	quarter, eighth := big.NewRat(1, 4), big.NewRat(1, 8) // exact as float64s
	rr2, rr5 := rationalResponse(2, quarter), rationalResponse(5, big.NewRat(1, 2))
	own := pair{ // losses ln(1/2), 0 and ln 3, in rising order
		[]*big.Rat{big.NewRat(1, 4), big.NewRat(3, 8), big.NewRat(3, 8)},
		[]*big.Rat{big.NewRat(1, 2), big.NewRat(3, 8), big.NewRat(1, 8)},
	}
	loss := given(own)
	for _, c := range []struct {
		adj   dp.Adjacency
		event dp.Event
		pairs [][]pair // for each order of the neighbours, what is composed
	}{
		{dp.ReplaceOne, dp.SelfComposed{Count: 6, Event: dp.RandomizedResponse{Buckets: 2, NoiseParameter: .25}}, [][]pair{{rr2, rr2, rr2, rr2, rr2, rr2}}},
		{dp.ReplaceOne, dp.Composed{Events: []dp.Event{
			dp.SelfComposed{Count: 3, Event: dp.RandomizedResponse{Buckets: 5, NoiseParameter: .5}}, dp.RandomizedResponse{Buckets: 2, NoiseParameter: .25},
		}}, [][]pair{{rr5, rr5, rr5, rr2}}},
		{dp.AddRemoveOne, dp.SelfComposed{Count: 5, Event: loss}, [][]pair{{own, own, own, own, own}}},
		{dp.AddRemoveOne, dp.SelfComposed{Count: 4, Event: dp.PoissonSampled{Rate: .125, Event: dp.DiscreteLaplace{Scale: 1 / math.Ln2, Norm: 1}}},
			[][]pair{{halving().sampled(eighth), halving().sampled(eighth), halving().sampled(eighth), halving().sampled(eighth)},
				{halving().sampled(eighth).reversed(), halving().sampled(eighth).reversed(), halving().sampled(eighth).reversed(), halving().sampled(eighth).reversed()}}},
	} {
		a := account.NewPLD(c.adj)
		compose(t, a, c.event, 1)
		for _, epsilon := range []*big.Rat{new(big.Rat), big.NewRat(1, 8), big.NewRat(1, 2), big.NewRat(7, 8)} {
			low, high := exponential(epsilon)
			var lower, upper float64
			for _, parts := range c.pairs {
				all := parts[0]
				for _, p := range parts[1:] {
					all = all.times(p)
				}
				l, u := all.delta(low, high)
				lower, upper = max(lower, l), max(upper, u)
			}
			got, err := a.Delta(t.Context(), float(epsilon))
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%.60v at %v", c.event, epsilon)
			if got.Lower > upper || got.Upper < lower {
				t.Errorf("%s: %v; in rational numbers [%v, %v]", name, got, lower, upper)
			}
			if got.Upper > upper*1.001+1e-15 {
				t.Errorf("%s: %v is far above [%v, %v]", name, got, lower, upper)
			}
		}
	}
}

// halving is discrete Laplace noise whose probabilities halve at each step, around 1 and around 0, as three
// sets of outcomes of equal loss: above, below, and none between, for the gap is one step.
func halving() pair {
	// P(X >= 0) = 2/3 for the law (1/3) 2^-|k|, and the gap of 1 multiplies by 2 or 1/2.
	return pair{[]*big.Rat{big.NewRat(2, 3), big.NewRat(1, 3)}, []*big.Rat{big.NewRat(1, 3), big.NewRat(2, 3)}}
}

// TestSmoothDeltaHoldsIntervals: in one dimension the outcomes where P exceeds e^epsilon Q lie
// between, or beyond, the roots of a quadratic. Normal masses are enclosed in 600-bit
// arithmetic by alternating partial sums of the error function's series, and every ratio of variances
// on a grid bounds the largest divergence from below; the certified bracket lies above all and touches the largest.
func TestSmoothDeltaHoldsIntervals(t *testing.T) {
	for _, c := range []struct{ alpha, beta, epsilon float64 }{{1, .25, .5}, {2, .125, .25}, {1, .5, 1}, {.75, .0625, 1}} {
		got, err := account.SmoothGaussianDelta(t.Context(), c.alpha, c.beta, 1, c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := -8; i <= 8; i++ {
			r := c.beta * float64(i) / 8
			lower, upper := scalarDivergence(1/c.alpha, r, c.epsilon)
			if upper-lower > 1e-9 {
				t.Fatalf("the enclosure [%v, %v] is no check", lower, upper)
			}
			if got.Upper < lower {
				t.Errorf("%+v at log-ratio %v: certified %v; it is at least %v", c, r, got, lower)
			}
			worst = max(worst, upper)
		}
		if got.Upper > worst*1.001 || got.Lower > worst*(1+1e-6) {
			t.Errorf("%+v: certified %v; the worst ratio of a grid has %v", c, got, worst)
		}
	}
}

// scalarDivergence encloses P(S) - e^epsilon Q(S) for P = N(m, v), Q = N(0, 1), v = e^r, their smaller
// standard deviation being 1/mu of the distance, and S a set that rounding may put off its best: any
// set bounds from below, and 1e-12 more than it would be best for bounds from above,
// as the value is stationary in the ends of S.
func scalarDivergence(mu, r, epsilon float64) (lower, upper float64) {
	v := math.Exp(r)
	m := mu * min(1, math.Sqrt(v))
	// ln(P/Q) = a x^2 + b x + d at x under these laws.
	a, b, d := (1-1/v)/2, m/v, -m*m/(2*v)-r/2-epsilon
	inside := func(lo, hi float64) (float64, float64) { // P - e^epsilon Q of an interval
		s := math.Sqrt(v)
		pl, pu := normalMass((lo-m)/s, (hi-m)/s)
		ql, qu := normalMass(lo, hi)
		return pl - math.Exp(epsilon)*qu - 1e-13, pu - math.Exp(epsilon)*ql + 1e-12
	}
	if math.Abs(a) < 1e-12 {
		return inside(-d/b, 12)
	}
	disc := b*b - 4*a*d
	if disc <= 0 {
		if a < 0 {
			return 0, 0
		}
		return inside(-12, 12)
	}
	q := -(b + math.Sqrt(disc)) / 2
	x, y := q/a, d/q
	x, y = max(min(x, y), -12), min(max(x, y), 12)
	if a < 0 {
		return inside(x, y)
	}
	l1, u1 := inside(-12, max(x, -12))
	l2, u2 := inside(min(y, 12), 12)
	return l1 + l2, u1 + u2
}

// normalMass encloses the standard normal mass of an interval within [-40, 40], by the series
// sum of (-1)^n x^(2n+1)/(n! 2^n (2n+1)), whose terms fall from n > x^2/2 on, in 600 bits.
func normalMass(lo, hi float64) (lower, upper float64) {
	ll, lu := halfMass(lo)
	hl, hu := halfMass(hi)
	return max(hl-lu, 0) - 1e-15, hu - ll + 1e-15
}

// halfMass encloses the mass of [0, x], negative for a negative x.
func halfMass(x float64) (lower, upper float64) {
	if x < 0 {
		l, u := halfMass(-x)
		return -u, -l
	}
	new := func(f float64) *big.Float { return big.NewFloat(f).SetPrec(600) }
	sum, term, square := new(0), new(x), new(x)
	square.Mul(square, square)
	var last *big.Float
	for n := 0; n < 2000; n++ {
		last = new(0).Quo(term, new(float64(2*n+1)))
		if n%2 == 0 {
			sum.Add(sum, last)
		} else {
			sum.Sub(sum, last)
		}
		if float64(n) > x*x && last.Cmp(big.NewFloat(1e-40)) < 0 {
			break
		}
		term.Mul(term, square)
		term.Quo(term, new(float64(2*(n+1))))
	}
	f, _ := sum.Float64() // terms of up to e^(x^2/2) at 600 bits, and a rest below 1e-40
	f *= 1 / math.Sqrt(2*math.Pi)
	return f * (1 - 1e-15), f * (1 + 1e-15)
}
