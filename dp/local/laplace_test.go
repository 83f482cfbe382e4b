package local

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"pgregory.net/rapid"
)

// The two facts from which epsilon follows, for any input: the integers that the
// noise is added to have l1 norm at most limit, and the noise has scale at least
// 2 limit/epsilon, compared as rationals.
func TestLaplaceEnforcesItsSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := rapid.Float64Range(minEpsilon, maxEpsilon).Draw(t, "epsilon")
		clip := math.Pow(10, rapid.Float64Range(-99, 99).Draw(t, "log clip"))
		x := rapid.SliceOfN(rapid.Float64(), 1, 40).Draw(t, "x")
		if rapid.Bool().Draw(t, "at the clip") {
			for i := range x {
				x[i] = clip / 2 * (1 + 1e-15*float64(i%3)) / float64(len(x))
			}
		}
		l, err := NewLaplace(len(x), clip, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		factor, sum := l.factor(x), int64(0)
		for _, v := range x {
			k := onLattice(v, factor)
			if sum += max(k, -k); sum > l.limit {
				t.Fatalf("l1 norm passes %d", l.limit)
			}
		}
		bound := new(big.Rat).SetInt64(2 * l.limit)
		bound.Quo(bound, new(big.Rat).SetFloat64(epsilon))
		if new(big.Rat).SetFloat64(l.noise.Scale()).Cmp(bound) < 0 {
			t.Fatalf("scale %v for norm %d and epsilon %v", l.noise.Scale(), l.limit, epsilon)
		}
		if s := l.Scale() * epsilon / clip; s > 1+1e-9 || s < 1-1e-3 {
			t.Fatalf("scale is %v times clip/epsilon", s)
		}
	})
}

// A vector inside the ball is kept but for the lattice, one outside is shortened to
// it, and one that is not finite is zero.
func TestLaplaceClips(t *testing.T) {
	l, _ := NewLaplace(3, 2, 1)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{.5, -.25, 0}, []float64{.5, -.25, 0}},
		{[]float64{3, -4, 1}, []float64{3. / 8, -4. / 8, 1. / 8}},
		{[]float64{1e308, 1e308, -1e308}, []float64{1. / 3, 1. / 3, -1. / 3}},
		{[]float64{nan, 1, 1}, []float64{0, 0, 0}},
		{[]float64{1, inf, 0}, []float64{0, 0, 0}},
		{[]float64{-inf, inf, nan}, []float64{0, 0, 0}},
		{[]float64{0, 5e-324, 0}, []float64{0, 0, 0}},
	} {
		f, got := l.factor(c.x), make([]float64, 3)
		for i, v := range c.x {
			got[i] = float64(onLattice(v, f)) * l.step
		}
		if !near(got, c.want, 1e-6) {
			t.Errorf("clip of %v is %v; want %v", c.x, got, c.want)
		}
		src := noise.NewSeeded(1)
		if err := l.Estimate(got, l.Randomize(nil, c.x, src)); err != nil {
			t.Error(err)
		}
	}
}

// The check in integers that has the last word.
func TestLaplaceCountsTheNormInIntegers(t *testing.T) {
	l, _ := NewLaplace(3, 2, 1)
	n := float64(l.limit)
	for _, c := range []struct {
		x    []float64
		want bool
	}{
		{[]float64{n, 0, 0}, true}, {[]float64{-n, 0, 0}, true}, {[]float64{n, 0, .5}, true},
		{[]float64{n - 2, -1, 1}, true}, {[]float64{n - 1, 1.5, .5}, true}, {[]float64{n - 1, 1.5, -1}, false}, {[]float64{n, 0, -1}, false},
		{[]float64{n + 1, 0, 0}, false}, {[]float64{1e300, 0, 0}, false}, {[]float64{math.NaN(), 0, 0}, false},
	} {
		if got := l.within(c.x, 1); got != c.want {
			t.Errorf("%v within %v: %v; want %v", c.x, n, got, c.want)
		}
	}
}

// The laws at the two ends of the ball in one dimension: a report above 0 has
// probability 1 - e^(-epsilon/2)/2 and e^(-epsilon/2)/2. The mean of |noise| is the
// scale. 7 standard errors of 40000 reports: false alarm below 1e-11 each.
func TestLaplaceHasItsLaw(t *testing.T) {
	const n, clip = 40_000, 4.0
	for _, epsilon := range []float64{.2, 1, 4} {
		l, _ := NewLaplace(1, clip, epsilon)
		src := noise.NewSeeded(11)
		for _, x := range []float64{clip / 2, -clip / 2, math.NaN(), 100} {
			clipped := min(clip/2, x)
			if math.IsNaN(x) {
				clipped = 0
			}
			above, deviation, got := 0.0, 0.0, make([]float64, 1)
			var report []byte
			for range n {
				report = l.Randomize(report[:0], []float64{x}, src)
				if err := l.Estimate(got, report); err != nil {
					t.Fatal(err)
				}
				if got[0] > 0 {
					above++
				}
				deviation += math.Abs(got[0]-clipped) / n
			}
			want := math.Exp(-math.Abs(clipped)*epsilon/clip) / 2
			if clipped > 0 {
				want = 1 - want
			}
			if se := 7 * math.Sqrt(want*(1-want)/n); math.Abs(above/n-want) > se {
				t.Errorf("epsilon %v, x = %v: above 0 with frequency %v; want %v within %v", epsilon, x, above/n, want, se)
			}
			if s := clip / epsilon; math.Abs(deviation-s) > 7*s/math.Sqrt(n) {
				t.Errorf("epsilon %v, x = %v: mean deviation %v; want %v", epsilon, x, deviation, s)
			}
		}
	}
}

func TestLaplaceParametersOutOfRangeAreRefused(t *testing.T) {
	for _, c := range []struct {
		dim           int
		clip, epsilon float64
	}{{0, 1, 1}, {1, 0, 1}, {1, math.NaN(), 1}, {1, math.Inf(1), 1}, {1, 1, 0}, {1, 1, math.NaN()}, {maxDim + 1, 1, 1}} {
		if _, err := NewLaplace(c.dim, c.clip, c.epsilon); !errors.Is(err, ErrParameter) {
			t.Errorf("NewLaplace(%+v): %v", c, err)
		}
	}
}

func FuzzLaplaceEstimate(f *testing.F) {
	l, _ := NewLaplace(2, 1, 1)
	f.Add(l.Randomize(nil, []float64{1, 2}, noise.NewSeeded(1)))
	for _, edge := range []string{"\x15\x00\x00\x00\x80\x00\x00\x00\x00", "\x15\x01\x00\x00\x80\x00\x00\x00\x00", "\x25\x00\x00\x00\x00\x00\x00\x00\x00"} {
		f.Add([]byte(edge))
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		valid := len(report) == 9 && report[0] == 0x15
		for i := 0; valid && i < 2; i++ {
			valid = string(report[1+4*i:5+4*i]) != "\x00\x00\x00\x80"
		}
		accepted(t, l, report, valid)
	})
}
