package local

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"pgregory.net/rapid"
)

// exponentialBelow is a rational lower bound of e^x, x >= 0 exact: a partial sum of
// its series. Enough terms make it good to 100 bits for x <= 64.
func exponentialBelow(x *big.Rat) *big.Rat {
	sum, term := big.NewRat(1, 1), big.NewRat(1, 1)
	for k := int64(1); k < 300; k++ {
		term.Mul(term, x).Quo(term, big.NewRat(k, 1))
		// Rounded down to 256 bits, so that the numbers stay small.
		term = floorBits(term)
		sum.Add(sum, term)
	}
	return sum
}

func floorBits(r *big.Rat) *big.Rat {
	n := new(big.Int).Lsh(r.Num(), 256)
	return new(big.Rat).SetFrac(n.Quo(n, r.Denom()), new(big.Int).Lsh(big.NewInt(1), 256))
}

// The odds that the threshold gives are compared with e^epsilon in rational
// arithmetic: not a tolerance, an inequality.
func TestOddsOfTheTruthNeverPassTheBudget(t *testing.T) {
	two64 := new(big.Int).Lsh(big.NewInt(1), 64)
	rapid.Check(t, func(t *rapid.T) {
		epsilon := rapid.Float64Range(minEpsilon, maxEpsilon).Draw(t, "epsilon")
		buckets := rapid.IntRange(2, 1<<20).Draw(t, "buckets")
		r, err := NewResponse(buckets, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		lie := new(big.Int).SetUint64(r.lie)
		odds := new(big.Rat).SetFrac(new(big.Int).Sub(two64, lie), lie) // against all others
		odds.Mul(odds, big.NewRat(int64(buckets-1), 1))                 // against one
		bound := exponentialBelow(new(big.Rat).SetFloat64(epsilon))
		if odds.Cmp(bound) > 0 {
			t.Fatalf("odds pass e^epsilon: lie %d", r.lie)
		}
		if odds.Cmp(big.NewRat(1, 1)) < 0 {
			t.Fatalf("a lie is likelier than the truth")
		}
		// Not much is given away either: 1e-9 of the odds, unless the lie is at the
		// end of its resolution.
		loose := new(big.Rat).Mul(odds, big.NewRat(1e9+1, 1e9))
		if r.lie > 1<<42 && loose.Cmp(bound) < 0 {
			t.Fatalf("odds far below e^epsilon")
		}
	})
}

func TestResponseSpendsItsEpsilonExactly(t *testing.T) {
	for _, buckets := range []int{2, 3, 7} {
		for _, epsilon := range []float64{.01, 1, 5, 20} {
			r, err := NewResponse(buckets, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			if r.Epsilon() != epsilon {
				t.Errorf("made for epsilon %v, it says %v", epsilon, r.Epsilon())
			}
			var laws []map[string]float64
			for b := -1; b <= buckets; b++ { // outside too
				laws = append(laws, law(func(c coins) []byte { return r.randomize(nil, b, c) }))
			}
			checkLaws(t, fmt.Sprintf("%d buckets, epsilon %v", buckets, epsilon), laws, epsilon, 1-1e-9)
			want := math.Exp(epsilon) / (math.Exp(epsilon) + float64(buckets-1))
			if math.Abs(r.Truth()-want) > 1e-12 {
				t.Errorf("truth %v; want %v", r.Truth(), want)
			}
		}
	}
}

// The truth has the highest probability of its own law: a flipped answer would
// be as private, and useless.
func TestResponseMostlyTellsTheTruth(t *testing.T) {
	r, _ := NewResponse(5, 2)
	for b := range 5 {
		l := law(func(c coins) []byte { return r.randomize(nil, b, c) })
		for report, p := range l {
			said, err := r.Decode([]byte(report))
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]float64{true: r.Truth(), false: (1 - r.Truth()) / 4}[said == b]; math.Abs(p-want) > 1e-12 {
				t.Errorf("bucket %d: %d is said with probability %v; want %v", b, said, p, want)
			}
		}
	}
}

// Twenty thousand reports; a share is off by 7 standard errors with probability
// below 1e-11, and the seed is fixed.
func TestResponseEstimatesShares(t *testing.T) {
	r, _ := NewResponse(4, 1)
	src := noise.NewSeeded(7)
	share := []float64{.1, .2, .3, .4}
	counts, got := make([]int64, 4), make([]float64, 4)
	const n = 20_000
	var report []byte
	for i := range n {
		bucket := []int{0, 1, 1, 2, 2, 2, 3, 3, 3, 3}[i%10]
		report = r.Randomize(report[:0], bucket, src)
		said, err := r.Decode(report)
		if err != nil {
			t.Fatal(err)
		}
		counts[said]++
	}
	r.Estimate(got, counts)
	spread := .5 / math.Sqrt(n) / (r.Truth() - (1-r.Truth())/3)
	if !near(got, share, 7*spread) {
		t.Errorf("shares %v; want %v within %v", got, share, 7*spread)
	}
}

func TestOneBitIsPrivateAndUnbiased(t *testing.T) {
	for _, epsilon := range []float64{.001, .5, 2, 30} {
		o, err := NewOneBit(-2, 6, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		var laws []map[string]float64
		for x, want := range map[float64]float64{-2: -2, 6: 6, 2: 2, .3: .3, -1e308: -2, 1e308: 6, math.Inf(1): 2, math.Inf(-1): 2} {
			laws = append(laws, oneBitLaw(t, o, x, want))
		}
		laws = append(laws, oneBitLaw(t, o, math.NaN(), 2))
		checkLaws(t, fmt.Sprintf("one bit, epsilon %v", epsilon), laws, epsilon, 1-1e-7)
	}
}

func oneBitLaw(t *testing.T, o OneBit, x, want float64) map[string]float64 {
	t.Helper()
	l := law(func(c coins) []byte { return o.randomize(nil, x, c) })
	got := 0.0
	for report, p := range l {
		e, err := o.Estimate([]byte(report))
		if err != nil {
			t.Fatal(err)
		}
		got += p * e
	}
	if !(math.Abs(got-want) < 1e-9) {
		t.Errorf("epsilon %v: mean of the estimate of %v is %v; want %v", o.epsilon, x, got, want)
	}
	return l
}

func TestScalarParametersOutOfRangeAreRefused(t *testing.T) {
	nan := math.NaN()
	for _, epsilon := range []float64{0, -1, nan, math.Inf(1), 65, 1e-4} {
		if _, err := NewResponse(2, epsilon); !errors.Is(err, ErrParameter) {
			t.Errorf("NewResponse(2, %v): %v", epsilon, err)
		}
		if _, err := NewOneBit(0, 1, epsilon); !errors.Is(err, ErrParameter) {
			t.Errorf("NewOneBit(0, 1, %v): %v", epsilon, err)
		}
	}
	for _, buckets := range []int{-1, 0, 1, 1<<20 + 1} {
		if _, err := NewResponse(buckets, 1); !errors.Is(err, ErrParameter) {
			t.Errorf("NewResponse(%d, 1): %v", buckets, err)
		}
	}
	for _, r := range [][2]float64{{1, 1}, {2, 1}, {nan, 1}, {0, nan}, {math.Inf(-1), 0}, {0, 1e101}} {
		if _, err := NewOneBit(r[0], r[1], 1); !errors.Is(err, ErrParameter) {
			t.Errorf("NewOneBit(%v): %v", r, err)
		}
	}
}

func FuzzResponseDecode(f *testing.F) {
	r, _ := NewResponse(5, 1)
	o, _ := NewOneBit(0, 1, 1)
	for b := range 5 {
		f.Add(r.Randomize(nil, b, noise.NewSeeded(1)))
	}
	f.Add(o.Randomize(nil, .5, noise.NewSeeded(1)))
	for _, edge := range []string{"\x11\x05\x00\x00\x00", "\x11\x00\x00\x00\x01", "\x21\x00\x00\x00\x00", "\x12\x02", "\x12\x01\x00", ""} {
		f.Add([]byte(edge))
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		if b, err := r.Decode(report); err == nil {
			if len(report) != 5 || report[0] != 0x11 || int(report[1]) != b || b > 4 || report[2]|report[3]|report[4] != 0 {
				t.Errorf("accepted % x", report)
			}
		} else if !errors.Is(err, ErrReport) {
			t.Error(err)
		}
		if _, err := o.Estimate(report); err == nil {
			if len(report) != 2 || report[0] != 0x12 || report[1] > 1 {
				t.Errorf("accepted % x", report)
			}
		} else if !errors.Is(err, ErrReport) {
			t.Error(err)
		}
	})
}
