package account

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/oracle"
)

type smoothReference struct {
	Divergence []struct {
		Mu, R, Epsilon float64
		D              int
		Delta          string
	}
	Kernel []struct {
		K            int
		R, Y         float64
		Hockey, Tail string
	}
}

func readSmoothReference(t *testing.T) smoothReference {
	t.Helper()
	ref := oracle.Load[smoothReference](t, "testdata/smooth_reference.json")
	if len(ref.Divergence) < 60 || len(ref.Kernel) < 500 {
		t.Fatalf("%d and %d cases; the table is not whole", len(ref.Divergence), len(ref.Kernel))
	}
	return ref
}

func smoothDecimal(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The kernel's error stays within a quarter of the allowance that the integral
// makes for it.
func TestSmoothKernelIsWithinItsErrorBound(t *testing.T) {
	for _, c := range readSmoothReference(t).Kernel {
		k := newSmoothKernel(c.K, c.R)
		hockey, tail := k.at(c.Y)
		wantHockey, wantTail := smoothDecimal(t, c.Hockey), smoothDecimal(t, c.Tail)
		eta := 8 * smoothUlp * (64 + float64(c.K+1)*(1+math.Abs(c.R)/2))
		if math.Abs(tail-wantTail) > eta*wantTail || math.Abs(hockey-wantHockey) > eta*wantTail {
			t.Errorf("k %d, r %v, y %v: %v, %v; want %v, %v within %.1e", c.K, c.R, c.Y, hockey, tail, wantHockey, wantTail, eta)
		}
	}
}

// The reference sums noncentral chi-squared probabilities over the optimal ball.
func TestSmoothIntegralBracketsTheReference(t *testing.T) {
	s := smoothIntegral{ctx: t.Context()}
	for _, c := range readSmoothReference(t).Divergence {
		want := smoothDecimal(t, c.Delta)
		for _, rtol := range []float64{1e-1, 1e-3, 1e-6} {
			s.set(c.Mu, c.R, c.Epsilon, c.D)
			got := s.divergence(rtol)
			if got.lower > want || got.upper < want || got.upper-got.lower > 1.1*rtol*want+smoothFloor {
				t.Errorf("%+v: [%v, %v] at %v", c, got.lower, got.upper, rtol)
			}
			if got.tail < want {
				t.Errorf("%+v: tail %v below delta", c, got.tail)
			}
		}
	}
}

// A mean of 400000 terms in [0, 1] leaves its expectation by 0.0053 with
// probability at most 2e-10 (Hoeffding); the seed is fixed.
func TestSmoothIntegralAgreesWithSimulation(t *testing.T) {
	const n, slack = 400000, 0.0053
	rng := rand.New(rand.NewPCG(16, 2016))
	s := smoothIntegral{ctx: t.Context()}
	for _, c := range []struct {
		d              int
		mu, r, epsilon float64
	}{{1, 1, 0.5, 0.3}, {2, 0.7, -0.6, 0.1}, {2, 1.5, 0.3, 0.5}, {5, 0.4, 0.5, 0.2}, {5, 0.4, -0.5, 0.2}} {
		s1, s2 := math.Exp(max(c.r, 0)/2), math.Exp(max(-c.r, 0)/2)
		sum := 0.0
		for range n {
			loss := float64(c.d) * math.Log(s2/s1)
			for i := range c.d {
				x := s1 * rng.NormFloat64()
				y := x
				if i == 0 {
					y -= c.mu
				}
				loss += y*y/(2*s2*s2) - x*x/(2*s1*s1)
			}
			sum += max(0, -math.Expm1(c.epsilon-loss))
		}
		s.set(c.mu, c.r, c.epsilon, c.d)
		got := s.divergence(1e-6)
		if mean := sum / n; mean < got.lower-slack || mean > got.upper+slack || got.lower < 10*slack {
			t.Errorf("%+v: simulated %v, computed [%v, %v]", c, mean, got.lower, got.upper)
		}
	}
}

// density is P's at (x1, rest) in the frame of the proof, where Q = N(0, I).
func smoothDensity(d int, mu, r, x1, rest2 float64) float64 {
	v, m := math.Exp(r), -mu*math.Exp(min(r, 0)/2)
	return math.Exp(-float64(d)*r/2 - ((x1-m)*(x1-m)+rest2)/(2*v))
}

// p”/p >= -M, with M attained when P is the wider law.
func TestSmoothCurvatureBound(t *testing.T) {
	const h = 1e-4
	curvature := func(d int, mu, t, sign, x1, rest2 float64) float64 {
		p := func(t float64) float64 { return smoothDensity(d, mu, sign*t, x1, rest2) }
		return (p(t+h) - 2*p(t) + p(t-h)) / (h * h * p(t))
	}
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 40).Draw(t, "d")
		mu := rapid.Float64Range(0, 4).Draw(t, "mu")
		at := rapid.Float64Range(2*h, 1).Draw(t, "t")
		x1 := rapid.Float64Range(-8, 8).Draw(t, "x1")
		rest2 := 0.0
		if d > 1 {
			rest2 = rapid.Float64Range(0, 100).Draw(t, "rest")
		}
		dim := float64(d)
		if c := curvature(d, mu, at, 1, x1, rest2); c < -(dim/2+0.25)-1e-3*(1+math.Abs(c)) {
			t.Fatalf("P wider: %v below %v", c, -(dim/2 + 0.25))
		}
		if c := curvature(d, mu, at, -1, x1, rest2); c < -(0.75*dim+0.5625+mu*mu/4)-1e-3*(1+math.Abs(c)) {
			t.Fatalf("P narrower: %v below %v", c, -(0.75*dim + 0.5625 + mu*mu/4))
		}
	})
	// |z|^2 = d + 1 is where the first bound is attained.
	const d, t0 = 5, 0.3
	rest2 := (d + 1) * math.Exp(t0)
	if c := curvature(d, 1, t0, 1, -1, rest2); math.Abs(c+d/2.0+0.25) > 1e-3 {
		t.Errorf("curvature %v at its minimum; want %v", c, -(d/2.0 + 0.25))
	}
}

// The sweep's bound covers every ratio inside an interval, and it closes with
// the square of the interval's length.
func TestSmoothSweepBoundsEveryRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := smoothSweep{integral: smoothIntegral{ctx: t.Context()},
			mu:      math.Exp(rapid.Float64Range(-4, 1.5).Draw(t, "ln mu")),
			epsilon: rapid.Float64Range(0, 4).Draw(t, "epsilon"),
			d:       rapid.IntRange(1, 50).Draw(t, "d"),
			rtol:    1e-6,
		}
		i := smoothInterval{wider: rapid.Bool().Draw(t, "wider")}
		i.t0 = rapid.Float64Range(0, 0.5).Draw(t, "t0")
		i.t1 = i.t0 + rapid.Float64Range(0.001, 0.3).Draw(t, "length")
		i.upper0, i.upper1 = w.at(smoothSigned(i.wider, i.t0)).upper, w.at(smoothSigned(i.wider, i.t1)).upper
		bound := w.bound(i)
		for range 5 {
			at := i.t0 + (i.t1-i.t0)*rapid.Float64Range(0, 1).Draw(t, "share")
			if got := w.at(smoothSigned(i.wider, at)); got.lower > bound {
				t.Fatalf("%+v: %v at %v exceeds %v", i, got.lower, at, bound)
			}
		}
	})
}

// A ratio near the smallest float is the same as none, not a division by zero.
func TestSmoothSweepSurvivesDenormalRatios(t *testing.T) {
	want := GaussianDelta(0.5, 1)
	for _, beta := range []float64{5e-324, 1e-310, 1e-290, 1e-100, 1e-16} {
		for _, d := range []int{1, 2, 3, 50} {
			w := smoothSweep{integral: smoothIntegral{ctx: t.Context()}, mu: 0.5, beta: beta, epsilon: 1, d: d, rtol: 1e-4}
			got := w.largest(0)
			if got.Lower > want.Upper || got.Upper < want.Lower || got.Upper > want.Upper*(1+1e-3) {
				t.Errorf("beta %v, d %d: %v; want %v", beta, d, got, want)
			}
		}
	}
}

// At epsilon 0 a change of the variance makes the total variation smaller: the
// worst pair has equal variances, which a look at the extremes would miss.
func TestSmoothSweepFindsAnInteriorMaximum(t *testing.T) {
	b, err := smoothGaussianDelta(t.Context(), 1/0.7, 0.0625, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := math.Erf(0.7 / math.Sqrt(8))
	if b.Lower > want || b.Upper < want || b.Upper > want*(1+1e-5) {
		t.Errorf("%v; want %v", b, want)
	}
	w := smoothSweep{integral: smoothIntegral{ctx: t.Context()}, mu: 0.7, epsilon: 0, d: 1, rtol: 1e-6}
	if end := w.at(0.0625).upper; end > 0.99*want {
		t.Errorf("at the extreme %v; expected it clearly below %v", end, want)
	}
}

func TestBalle16ConstantsHold(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 20, 100, 1000} {
		for _, epsilon := range []float64{0.01, 0.1, 1, 3, 5, 8, 12, 16, 20} {
			for _, delta := range []float64{0.9, 0.5, 0.1, 1e-2, 1e-5, 1e-10, 1e-15, 1e-30} {
				budget := dp.Budget{Epsilon: epsilon, Delta: delta}
				if _, _, err := Balle16Constants(t.Context(), budget, d); err != nil {
					t.Errorf("d %d, %+v: %v", d, budget, err)
				}
			}
		}
	}
	// They are not a law of nature: by epsilon 60 they fail, hence the limit.
	log := math.Log(2 / 0.5)
	w := smoothSweep{integral: smoothIntegral{ctx: t.Context()}, mu: 60 / (5 * math.Sqrt(2*log)), beta: 60 / (4 * (1 + log)), epsilon: 60, d: 1, rtol: 1e-3}
	if lower := w.lower(); lower < 0.5 {
		t.Errorf("at epsilon 60, delta 0.5: certified only %v; expected a violation", lower)
	}
}
