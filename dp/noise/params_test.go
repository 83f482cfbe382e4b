package noise

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestParametersOutOfRangeAreRefused(t *testing.T) {
	for _, l := range laws {
		for _, x := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 0.00099, maxScale * (1 + 1e-15), 5e-324} {
			if _, err := l.make(x); !errors.Is(err, ErrParameter) {
				t.Errorf("%s(%v): %v; want ErrParameter", l.name, x, err)
			}
		}
		for _, x := range []float64{minScale, maxScale} {
			if _, err := l.make(x); err != nil {
				t.Errorf("%s(%v): %v", l.name, x, err)
			}
		}
	}
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-200, 1e200} {
		if _, err := NewFastGaussian(x); !errors.Is(err, ErrParameter) {
			t.Errorf("FastGaussian(%v): %v; want ErrParameter", x, err)
		}
	}
}

func TestScalesAreTakenExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(minScale, maxScale).Draw(t, "x")
		m, e := dyadic(x)
		if m < 1<<52 || m >= 1<<53 || math.Ldexp(float64(m), e) != x {
			t.Fatalf("dyadic(%v) = %d * 2^%d", x, m, e)
		}
		for _, ratio := range []int{4, 5} {
			n := math.Ldexp(1, int(stripPoints(x, ratio)))
			limit := math.Ldexp(x, -ratio)
			if n > 1 && (n >= limit || 2*n < limit) {
				t.Fatalf("strips of %v integers for %v: want the largest power of two below %v", n, x, limit)
			}
			if n == 1 && limit > 2 {
				t.Fatalf("strips of one integer for %v", x)
			}
		}
		g, err := NewGaussian(x)
		if err != nil {
			t.Fatal(err)
		}
		if g.Sigma() != x || g.shift < 65 || g.shift > 127 {
			t.Fatalf("Gaussian(%v): sigma %v, shift %d", x, g.Sigma(), g.shift)
		}
		// A strip's width in integers is mant 2^(lowBits-shift) = x/64.
		width := new(big.Rat).SetFrac(new(big.Int).Lsh(new(big.Int).SetUint64(g.mant), lowBits), new(big.Int).Lsh(big.NewInt(1), g.shift))
		if want := new(big.Rat).SetFloat64(x / 64); width.Cmp(want) != 0 {
			t.Fatalf("Gaussian(%v): strips of %v", x, width)
		}
	})
}

func TestBernoulliHasItsProbability(t *testing.T) {
	const n = 1 << 17
	for _, p := range []float64{0x1p-5, 0.3, 0.5, 1 - 0x1p-10, 0.999} {
		src, hits := NewSeeded(40), 0
		for range n {
			if src.Bernoulli(p) {
				hits++
			}
		}
		if z := (float64(hits) - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > 6.5 {
			t.Errorf("Bernoulli(%v): %d of %d", p, hits, n)
		}
	}
	src := NewSeeded(41)
	for range 1000 {
		if src.Bernoulli(0) || !src.Bernoulli(1) {
			t.Fatal("0 or 1 is not certain")
		}
	}
}

func TestBernoulliUsesEveryBitOfItsProbability(t *testing.T) {
	// 0x1p-64 + 0x1p-100: the first word must be 1, or 0 and the rest small.
	p := 0x1p-64 + 0x1p-100
	for _, test := range []struct {
		words []uint64
		want  bool
	}{
		{[]uint64{0}, true}, {[]uint64{2}, false},
		{[]uint64{1, 0}, true}, {[]uint64{1, 1<<28 - 1}, true}, {[]uint64{1, 1 << 28}, false},
	} {
		if got := script(1, test.words...).Bernoulli(p); got != test.want {
			t.Errorf("words %x: %v; want %v", test.words, got, test.want)
		}
	}
}

func TestBernoulliOfExponentials(t *testing.T) {
	const n = 4_000
	for _, x := range []float64{0, 1e-3, 0.7, 1, 3} {
		src := NewSeeded(42)
		exp, logistic := 0, 0
		for range n {
			if src.BernoulliExp(x) {
				exp++
			}
			if src.BernoulliLogistic(x) {
				logistic++
			}
			if src.BernoulliLogistic(-x) {
				logistic--
			}
		}
		p := math.Exp(-x)
		if d := math.Abs(float64(exp) - n*p); d > 6.5*math.Sqrt(n*p*(1-p)) {
			t.Errorf("BernoulliExp(%v): %d of %d", x, exp, n)
		}
		q := 1 / (1 + p)
		if d := math.Abs(float64(logistic) - n*(2*q-1)); d > 6.5*math.Sqrt(2*n*q*(1-q)) {
			t.Errorf("BernoulliLogistic(+-%v): difference %d of %d", x, logistic, n)
		}
	}
	if NewSeeded(1).BernoulliExp(1e300) {
		t.Error("BernoulliExp(1e300) is true")
	}
}

func TestBernoulliRefusesWhatIsNoProbability(t *testing.T) {
	src := NewSeeded(1)
	for name, f := range map[string]func(){
		"Bernoulli(-0.1)":   func() { src.Bernoulli(-0.1) },
		"Bernoulli(1.1)":    func() { src.Bernoulli(1.1) },
		"Bernoulli(NaN)":    func() { src.Bernoulli(math.NaN()) },
		"BernoulliExp(-1)":  func() { src.BernoulliExp(-1) },
		"BernoulliExp(NaN)": func() { src.BernoulliExp(math.NaN()) },
		"Logistic(Inf)":     func() { src.BernoulliLogistic(math.Inf(1)) },
		"Logistic(-Inf)":    func() { src.BernoulliLogistic(math.Inf(-1)) },
		"Logistic(NaN)":     func() { src.BernoulliLogistic(math.NaN()) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}

// Of a multiple of a rate the answers, and the bits that they take, are those of the product.
func TestBernoulliExpTimesIsOfTheProduct(t *testing.T) {
	for _, rate := range []*big.Rat{big.NewRat(1, 3), big.NewRat(1, 1<<40+1), big.NewRat(7, 2), new(big.Rat).SetFloat64(0x1p-1000)} {
		near, _ := rate.Float64()
		a, b := NewSeeded(4), NewSeeded(4)
		heads := 0
		for n := range int64(2000) {
			if n > 1000 {
				n = 1 << (n % 62)
			}
			x := new(big.Rat).SetInt64(n)
			got, want := a.BernoulliExpTimes(n, rate, near), b.BernoulliExpRat(x.Mul(x, rate))
			if got {
				heads++
			}
			if got != want || n%64 == 0 && a.Uint64() != b.Uint64() {
				t.Fatalf("%d times %v: %t; want %t, and the same bits afterwards", n, rate, got, want)
			}
		}
		if heads == 0 {
			t.Errorf("rate %v: no coin fell", rate)
		}
	}
}

// TestBernoulliExpRatOfTheSameNumber: of a number that a float64 is, both forms answer
// alike from the same bits; of others too, and x is kept.
func TestBernoulliExpRatOfTheSameNumber(t *testing.T) {
	a, b := NewSeeded(3), NewSeeded(3)
	for range 200 {
		if a.BernoulliExp(0.75) != b.BernoulliExpRat(big.NewRat(3, 4)) {
			t.Fatal("exp(-3/4): the two forms part")
		}
	}
	third, n, hits := big.NewRat(1, 3), 6000, 0.0
	for range n {
		if b.BernoulliExpRat(third) {
			hits++
		}
	}
	p := math.Exp(-1. / 3)
	// Five standard deviations: a false alarm has a probability below 1e-6.
	if sd := math.Sqrt(p * (1 - p) / float64(n)); math.Abs(hits/float64(n)-p) > 5*sd {
		t.Errorf("exp(-1/3): %v of %d; want a share of %v", hits, n, p)
	}
	if third.Cmp(big.NewRat(1, 3)) != 0 {
		t.Errorf("x became %v", third)
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative x is taken")
		}
	}()
	b.BernoulliExpRat(big.NewRat(-1, 3))
}
