package account_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// precise is the working precision of the exact sums below, in bits.
const precise = 400

// bigExp is e^x to about 100 digits, by the series after halving x.
func bigExp(x *big.Float) *big.Float {
	y := new(big.Float).SetPrec(precise).SetMantExp(x, -30)
	term, sum := big.NewFloat(1).SetPrec(precise), big.NewFloat(1).SetPrec(precise)
	for k := 1; k < 80; k++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetInt64(int64(k)))
		sum.Add(sum, term)
	}
	for range 30 {
		sum.Mul(sum, sum)
	}
	return sum
}

// poissonMoment is ln E r^a for an integer order: E r^a is the binomial sum over
// k of C(a,k) (1-q)^(a-k) q^k e^(k(k-1) mu^2/2), here less 1 in 400 bits.
func poissonMoment(order int64, q, mu float64) float64 {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(precise).SetFloat64(x) }
	square := f(mu)
	square.Mul(square, square).Quo(square, f(2))
	power := func(x *big.Float, n int64) *big.Float {
		out := f(1)
		for range n {
			out.Mul(out, x)
		}
		return out
	}
	sum := f(-1)
	for k := int64(0); k <= order; k++ {
		term := new(big.Float).SetPrec(precise).SetInt(new(big.Int).Binomial(order, k))
		term.Mul(term, power(new(big.Float).SetPrec(precise).Sub(f(1), f(q)), order-k))
		term.Mul(term, power(f(q), k))
		e := new(big.Float).SetPrec(precise).SetInt64(k * (k - 1))
		term.Mul(term, bigExp(e.Mul(e, square)))
		sum.Add(sum, term)
	}
	if sum.Cmp(f(1)) < 0 {
		excess, _ := sum.Float64()
		return math.Log1p(excess)
	}
	var mantissa big.Float
	exponent := sum.Add(sum, f(1)).MantExp(&mantissa)
	m, _ := mantissa.Float64()
	return math.Log(m) + float64(exponent)*math.Ln2
}

func TestPoissonRenyiMatchesBinomialSum(t *testing.T) {
	for _, c := range []struct{ q, mu float64 }{
		{1e-9, 0.01}, {1e-6, 2}, {1e-4, 1}, {0.01, 1}, {0.01, 0.25}, {0.3, 3}, {0.9, 0.05}, {0.5, 1e-3}, {1e-4, 3.5},
	} {
		for _, order := range []int64{2, 3, 5, 17, 40} {
			r := account.NewRDP(dp.AddRemoveOne)
			compose(t, r, dp.PoissonSampled{Rate: c.q, Event: dp.Gaussian{NoiseMultiplier: 1 / c.mu}}, 1)
			got := r.Renyi(float64(order))
			want := poissonMoment(order, c.q, c.mu) / float64(order-1)
			if math.IsInf(want, 0) || !(got >= want*(1-1e-14) && got <= want*(1+1e-9)) {
				t.Errorf("q %v, mu %v, order %d: %v, want %v (ratio - 1: %.3g)", c.q, c.mu, order, got, want, got/want-1)
			}
		}
	}
}

func TestFractionalOrdersLieOnAConvexCurve(t *testing.T) {
	// (a-1) D_a is convex in a, and D_a grows with a (van Erven, Harremoes 2014).
	for name, e := range map[string]dp.Event{
		"poisson":  dp.PoissonSampled{Rate: 0.02, Event: dp.Gaussian{NoiseMultiplier: 0.8}},
		"laplace":  dp.Laplace{NoiseMultiplier: 2},
		"discrete": dp.DiscreteLaplace{Scale: 3, Norm: 4},
	} {
		for _, adj := range []dp.Adjacency{dp.AddRemoveOne, dp.ReplaceOne} {
			r := account.NewRDP(adj)
			compose(t, r, e, 1)
			for a := 1.1; a < 12; a += 0.37 {
				d := r.Renyi(a)
				left, right := r.Renyi(a-0.05), r.Renyi(a+0.05)
				if !(left <= d*(1+1e-9) && d <= right*(1+1e-9)) {
					t.Errorf("%s %v: divergence falls near order %v: %v, %v, %v", name, adj, a, left, d, right)
				}
				chord := ((a-1.05)*left + (a-0.95)*right) / 2
				if (a-1)*d > chord*(1+1e-9) {
					t.Errorf("%s %v: not convex near order %v", name, adj, a)
				}
			}
		}
	}
}

// wangBound is Theorem 9 of Wang, Balle and Kasiviswanathan (2019) for a
// Gaussian of the given mu, whose largest privacy loss is unbounded.
func wangBound(order int, q, mu float64) float64 {
	renyi := func(j int) float64 { return float64(j) * mu * mu / 2 }
	a := 1 + q*q*float64(order*(order-1))/2*math.Min(4*math.Expm1(renyi(2)), 2*math.Exp(renyi(2)))
	binomial := float64(order*(order-1)) / 2
	for j := 3; j <= order; j++ {
		binomial *= float64(order-j+1) / float64(j)
		a += math.Pow(q, float64(j)) * binomial * 2 * math.Exp(float64(j-1)*renyi(j))
	}
	return math.Log(a) / float64(order-1)
}

func TestExchangeRenyiLiesBetweenMixtureAndWang(t *testing.T) {
	for _, c := range []struct {
		population, sample int64
		multiplier         float64
	}{{10000, 1, 1.2}, {60000, 256, 2.2}, {1000, 10, 1.6}, {500, 50, 6}, {10, 5, 20}, {1000, 999, 3}} {
		e := dp.SampledWithoutReplacement{Population: c.population, Sample: c.sample, Event: dp.Gaussian{NoiseMultiplier: c.multiplier}}
		q := float64(c.sample) / float64(c.population)
		r := account.NewRDP(dp.ReplaceOne)
		compose(t, r, e, 1)
		poisson := account.NewRDP(dp.ReplaceOne)
		compose(t, poisson, dp.PoissonSampled{Rate: q, Event: e.Event}, 1)
		// One person's record may be zero and the other's not: then the mixture
		// against N(0) with the gap of two clips is a pair of neighbours too.
		realised := account.NewRDP(dp.AddRemoveOne)
		compose(t, realised, dp.PoissonSampled{Rate: q, Event: dp.Gaussian{NoiseMultiplier: c.multiplier / 2}}, 1)
		for order := 2; order < 40; order += 3 {
			got := r.Renyi(float64(order))
			if low := realised.Renyi(float64(order)); got < low*(1-1e-9) {
				t.Errorf("%v order %d: %v is below a realised pair's %v", e, order, got, low)
			}
			if high := wangBound(order, q, 2/c.multiplier); got > high*(1+1e-9) {
				t.Errorf("%v order %d: %v exceeds the bound of Wang et al., %v", e, order, got, high)
			}
			if other := poisson.Renyi(float64(order)); math.Abs(other/got-1) > 1e-9 {
				t.Errorf("%v order %d: Poisson %v, without replacement %v", e, order, other, got)
			}
		}
	}
}

func TestWholeSampleIsNoSample(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 3}
	for _, e := range []dp.Event{
		dp.PoissonSampled{Rate: 1, Event: g},
		dp.SampledWithoutReplacement{Population: 7, Sample: 7, Event: g},
	} {
		sampled, plain := account.NewRDP(dp.ReplaceOne), account.NewRDP(dp.ReplaceOne)
		compose(t, sampled, e, 1)
		compose(t, plain, g, 1)
		a, b := sampled.Renyi(5), plain.Renyi(5)
		if a != b {
			t.Errorf("%v: %v, without sampling %v", e, a, b)
		}
	}
}

func TestClosedRenyiCurvesMatchSums(t *testing.T) {
	moment := func(p, q []float64, order float64) float64 {
		sum := 0.0
		for i := range p {
			sum += p[i] * math.Pow(p[i]/q[i], order-1)
		}
		return math.Log(sum) / (order - 1)
	}
	for _, c := range []struct{ scale, norm float64 }{{1, 1}, {2, 3}, {0.5, 2}, {9, 5}} {
		var p, q []float64
		w := math.Tanh(1 / (2 * c.scale))
		for x := -30 * c.scale; x <= 30*c.scale+c.norm; x++ {
			x := math.Floor(x)
			p = append(p, w*math.Exp(-math.Abs(x)/c.scale))
			q = append(q, w*math.Exp(-math.Abs(x-c.norm)/c.scale))
		}
		r := account.NewRDP(dp.AddRemoveOne)
		compose(t, r, dp.DiscreteLaplace{Scale: c.scale, Norm: c.norm}, 1)
		for _, order := range []float64{1.3, 2, 5.5, 30} {
			if got, want := r.Renyi(order), moment(p, q, order); math.Abs(got/want-1) > 1e-7 {
				t.Errorf("discrete Laplace %v order %v: %v, want %v", c, order, got, want)
			}
		}
	}
	for _, c := range []struct {
		k     int
		noise float64
	}{{2, 0.5}, {10, 0.9}, {3, 1e-6}, {4, 1}} {
		p, q := make([]float64, c.k), make([]float64, c.k)
		for i := range p {
			p[i], q[i] = c.noise/float64(c.k), c.noise/float64(c.k)
		}
		p[0] += 1 - c.noise
		q[1] += 1 - c.noise
		r := account.NewRDP(dp.ReplaceOne)
		compose(t, r, dp.RandomizedResponse{Buckets: c.k, NoiseParameter: c.noise}, 1)
		for _, order := range []float64{1.3, 2, 5.5, 30} {
			if got, want := r.Renyi(order), moment(p, q, order); math.Abs(got-want) > 1e-9*(1+want) {
				t.Errorf("response %v order %v: %v, want %v", c, order, got, want)
			}
		}
	}
}

func TestFixedOrdersAreNoBetterThanTheSearch(t *testing.T) {
	e := dp.SelfComposed{Count: 500, Event: dp.PoissonSampled{Rate: 0.02, Event: dp.Gaussian{NoiseMultiplier: 1}}}
	free := account.NewRDP(dp.AddRemoveOne)
	fixed := account.NewRDP(dp.AddRemoveOne, 2, 3, 5, 8, 9.5, 13, 21, 34)
	compose(t, free, e, 1)
	compose(t, fixed, e, 1)
	a, err1 := free.Epsilon(t.Context(), 1e-5)
	b, err2 := fixed.Epsilon(t.Context(), 1e-5)
	if err1 != nil || err2 != nil || a.Upper > b.Upper*(1+1e-9) || b.Upper > 1.1*a.Upper {
		t.Errorf("free %v (%v), fixed %v (%v)", a, err1, b, err2)
	}
}

func BenchmarkRDPEpsilon(b *testing.B) {
	for name, c := range map[string]struct {
		adj   dp.Adjacency
		event dp.Event
	}{
		"poisson":  {dp.AddRemoveOne, dp.SelfComposed{Count: 14062, Event: dp.PoissonSampled{Rate: 256.0 / 60000, Event: dp.Gaussian{NoiseMultiplier: 1.1}}}},
		"exchange": {dp.ReplaceOne, dp.SelfComposed{Count: 2000, Event: dp.SampledWithoutReplacement{Population: 60000, Sample: 256, Event: dp.Gaussian{NoiseMultiplier: 2.2}}}},
	} {
		b.Run(name, func(b *testing.B) {
			r := account.NewRDP(c.adj)
			compose(b, r, c.event, 1)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Epsilon(b.Context(), 1e-5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
