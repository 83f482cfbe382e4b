package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"pgregory.net/rapid"
)

// The odds of a cell in the window against one outside, in rational arithmetic.
func TestWindowNeverPassesItsBudget(t *testing.T) {
	two64 := new(big.Int).Lsh(big.NewInt(1), 64)
	rapid.Check(t, func(t *rapid.T) {
		epsilon := rapid.Float64Range(minEpsilon, maxShare).Draw(t, "epsilon")
		w := newWindow(epsilon)
		lie := new(big.Int).SetUint64(w.lie)
		odds := new(big.Rat).SetFrac(new(big.Int).Sub(two64, lie), lie)
		odds.Mul(odds, big.NewRat(int64(cells-w.width), int64(w.width)))
		bound := exponentialBelow(new(big.Rat).SetFloat64(epsilon))
		if odds.Cmp(bound) > 0 || odds.Cmp(big.NewRat(1, 1)) < 0 {
			t.Fatalf("odds of a cell: %v; want 1 to e^%v", odds.FloatString(20), epsilon)
		}
	})
}

// Every cell's probability, at both ends and in between.
func TestWindowSpendsItsEpsilonAndIsUnbiased(t *testing.T) {
	for _, epsilon := range []float64{.1, 2.5, 9} {
		w := newWindow(epsilon)
		var laws []map[string]float64
		for _, x := range []float64{-1, .371, 1} {
			l := law(func(c coins) []byte { return binary.LittleEndian.AppendUint16(nil, w.randomize(x, c)) })
			got := 0.0
			for cell, p := range l {
				got += p * w.estimate(binary.LittleEndian.Uint16([]byte(cell)))
			}
			if math.Abs(got-x) > 1e-8 {
				t.Errorf("epsilon %v: mean of the estimate of %v is %v", epsilon, x, got)
			}
			laws = append(laws, l)
		}
		checkLaws(t, fmt.Sprintf("window, epsilon %v", epsilon), laws, epsilon, 1-1e-9)
	}
}

// Wang et al. 2019, lemma 1: the variance of the piecewise mechanism at x is
// x^2/(e^(epsilon/2)-1) + (e^(epsilon/2)+3)/(3 (e^(epsilon/2)-1)^2). The cells change it
// by about their size.
func TestWindowHasThePublishedVariance(t *testing.T) {
	for _, epsilon := range []float64{.5, 1, 4, 8} {
		w, e := newWindow(epsilon), math.Exp(epsilon/2)
		for _, x := range []float64{0, 1} {
			got := 0.0
			for cell, p := range law(func(c coins) []byte { return binary.LittleEndian.AppendUint16(nil, w.randomize(x, c)) }) {
				d := w.estimate(binary.LittleEndian.Uint16([]byte(cell))) - x
				got += p * d * d
			}
			want := x*x/(e-1) + (e+3)/(3*(e-1)*(e-1))
			if math.Abs(got/want-1) > 1e-3 {
				t.Errorf("epsilon %v, x = %v: variance %v; want %v", epsilon, x, got, want)
			}
		}
	}
}

func TestCoordinatesSpendTheirEpsilonAndAreUnbiased(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, build := range []func(int, float64, float64) (Coordinates, error){NewPiecewise, NewHybrid} {
		r, err := build(2, 3, 1.5)
		if err != nil {
			t.Fatal(err)
		}
		var laws []map[string]float64
		for _, c := range []struct{ x, want []float64 }{
			{[]float64{3, -3}, []float64{3, -3}},
			{[]float64{-9, 1e308}, []float64{-3, 3}},
			{[]float64{nan, 3}, []float64{0, 0}},
			{[]float64{-3, inf}, []float64{0, 0}},
		} {
			l := law(func(coin coins) []byte { return r.randomize(nil, c.x, coin) })
			if got := mean(t, r, l); !near(got, c.want, 1e-8) {
				t.Errorf("%v: mean of the estimate of %v is %v; want %v", r.kind, c.x, got, c.want)
			}
			laws = append(laws, l)
		}
		checkLaws(t, fmt.Sprintf("randomiser %v", r.kind), laws, 1.5, 1-1e-9)
	}
}

// A report of several coordinates is too large to enumerate, but its coordinates are
// independent given the subset: the loss is their sum.
func TestManyCoordinatesShareEpsilon(t *testing.T) {
	for _, epsilon := range []float64{4.9, 5, 8, 20} {
		r, err := NewHybrid(100, 1, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		var cell, bit []map[string]float64
		for _, x := range []float64{-1, 1} {
			cell = append(cell, law(func(c coins) []byte { return binary.LittleEndian.AppendUint16(nil, r.window.randomize(x, c)) }))
			bit = append(bit, law(func(c coins) []byte {
				if x > 0 != c.below(r.lie) {
					return []byte{1}
				}
				return []byte{0}
			}))
		}
		n := float64(r.Sampled())
		for _, got := range []float64{n * loss(cell), n * loss(bit)} {
			if !(got <= epsilon*(1+1e-12)) || got < epsilon*(1-1e-9) {
				t.Errorf("%v coordinates lose %v; want epsilon = %v", n, got, epsilon)
			}
		}
	}
}

func TestSampledCoordinatesAreAUniformSubset(t *testing.T) {
	r := Coordinates{dim: 5}
	l := law(func(c coins) []byte {
		var sample [3]uint32
		r.draw(sample[:], c)
		return []byte{byte(sample[0]), byte(sample[1]), byte(sample[2])}
	})
	if len(l) != 10 {
		t.Errorf("%d subsets; want 10", len(l))
	}
	for s, p := range l {
		if s[0] >= s[1] || s[1] >= s[2] || s[2] > 4 || math.Abs(p-.1) > 1e-12 {
			t.Errorf("subset % x has probability %v; want .1, ascending", s, p)
		}
	}
}

// With several coordinates in a report, over 30000 of them: 7 standard errors.
func TestManyCoordinatesAreUnbiased(t *testing.T) {
	const n = 30_000
	x := []float64{.9, -.3, 0, 2, -5, .5}
	for _, build := range []func(int, float64, float64) (Coordinates, error){NewPiecewise, NewHybrid} {
		r, err := build(len(x), 1, 8)
		if err != nil {
			t.Fatal(err)
		}
		if r.Sampled() != 3 {
			t.Fatalf("%d coordinates", r.Sampled())
		}
		src := noise.NewSeeded(5)
		sum, one := make([]float64, len(x)), make([]float64, len(x))
		squares, report := 0.0, []byte(nil)
		for range n {
			report = r.Randomize(report[:0], x, src)
			squares += add(t, r, sum, one, report)
		}
		for i, v := range x {
			if se := 7 * math.Sqrt(squares/n/n); math.Abs(sum[i]/n-min(1, max(-1, v))) > se {
				t.Errorf("randomiser %v: coordinate %d is %v on average; want %v clipped, within %v", r.kind, i, sum[i]/n, v, se)
			}
		}
	}
}

func TestCoordinatesParametersOutOfRangeAreRefused(t *testing.T) {
	for _, c := range []struct {
		dim           int
		clip, epsilon float64
	}{{0, 1, 1}, {1, 0, 1}, {1, math.NaN(), 1}, {1, 1, 0}, {1, 1, 17}, {2, 1, math.Inf(1)}, {maxDim + 1, 1, 1}} {
		if _, err := NewHybrid(c.dim, c.clip, c.epsilon); !errors.Is(err, ErrParameter) {
			t.Errorf("NewHybrid(%+v): %v", c, err)
		}
	}
}

func FuzzCoordinatesEstimate(f *testing.F) {
	p, _ := NewPiecewise(5, 1, 5)
	h, _ := NewHybrid(5, 1, 5)
	x := []float64{1, 0, -1, .5, 0}
	for seed := range uint64(5) {
		f.Add(p.Randomize(nil, x, noise.NewSeeded(seed)))
		f.Add(h.Randomize(nil, x, noise.NewSeeded(seed)))
	}
	for _, bad := range []string{
		"\x16\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", // descending
		"\x16\x01\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00", // twice
		"\x16\x01\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00", // beyond the last
		"\x17\x01\x00\x00\x00\x01\x02\x00\x02\x00\x00\x00\x00\x00\x00", // not a bit
		"\x17\x01\x00\x00\x00\x02\x00\x00\x02\x00\x00\x00\x00\x00\x00", // not a mechanism
		"\x27\x01\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00", // another version
	} {
		f.Add([]byte(bad))
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		shape := len(report) == 15 && binary.LittleEndian.Uint32(report[1:]) < binary.LittleEndian.Uint32(report[8:]) &&
			binary.LittleEndian.Uint32(report[8:]) < 5
		window := func(b []byte) bool { return b[4] == 0 }
		either := func(b []byte) bool { return b[4] == 0 || b[4] == 1 && b[5] < 2 && b[6] == 0 }
		accepted(t, p, report, shape && report[0] == 0x16 && window(report[1:]) && window(report[8:]))
		accepted(t, h, report, shape && report[0] == 0x17 && either(report[1:]) && either(report[8:]))
	})
}
