package noise

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"
)

// script returns a source that yields the words first, and then the stream of a
// seed.
func script(seed uint64, words ...uint64) *Source {
	s := NewSeeded(seed)
	s.refill()
	for i, w := range words {
		binary.LittleEndian.PutUint64(s.buf[8*i:], w)
	}
	return s
}

// onlyExact draws from the cover as the samplers do, from the same words, but
// without filter: every dart, in a body too, is put to the exact comparison.
// It returns the magnitude in strips.
func onlyExact(t *testing.T, c *cover, discrete bool, points uint, src *Source) (x *prefix, sign uint64) {
	t.Helper()
	bitsBelow := uint(lowBits)
	if discrete {
		bitsBelow = points
	}
	for {
		strip := c.pick(src.Uint64())
		var height uint64
		if strip == other {
			var at place
			at, strip, height = c.pickRest(src)
			if at == inWaste {
				continue
			}
			if at == inTail {
				t.Fatal("a draw beyond 8 standard deviations; take another seed")
			}
		} else {
			height = c.low[strip] - 1 // the hardest height in the body
		}
		word := src.Uint64()
		low, sign := word>>stripBits, word&1
		if discrete {
			low = word >> 1 & (1<<points - 1)
			if strip == 0 && low == 0 && sign == 1 {
				continue
			}
		}
		body := height < c.low[strip]
		x := newPrefix(strip<<bitsBelow|low, bitsBelow, discrete)
		accepted := c.under(src, x, newPrefix(height, 0, false))
		if body && !accepted {
			t.Fatalf("strip %d: a dart in the body is above the density", strip)
		}
		if accepted {
			return x, sign
		}
	}
}

func TestFilterAndExactPathGiveTheSameInteger(t *testing.T) {
	const n = 1000
	for _, scale := range []float64{0.001, 0.6, 1, 64, 777.7, 1 << 30, 1 << 40} {
		g, err := NewGaussian(scale)
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewLaplace(scale)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []struct {
			name string
			*continuous
		}{{"Gaussian", &g.continuous}, {"Laplace", &l.continuous}} {
			fast, slow := NewSeeded(30), NewSeeded(30)
			for i := range n {
				got := s.sample(fast)
				x, sign := onlyExact(t, s.cover, false, 0, slow)
				if want := s.round(slow, x, sign); got != want {
					t.Fatalf("%s(%g): draw %d: %d with the filter, %d without", s.name, scale, i, got, want)
				}
			}
		}
		dg, err := NewDiscreteGaussian(scale)
		if err != nil {
			t.Fatal(err)
		}
		dl, err := NewDiscreteLaplace(scale)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []struct {
			name string
			*discrete
		}{{"DiscreteGaussian", &dg.discrete}, {"DiscreteLaplace", &dl.discrete}} {
			fast, slow := NewSeeded(31), NewSeeded(31)
			for i := range n {
				got := s.sample(fast)
				x, sign := onlyExact(t, s.cover, true, s.points, slow)
				if want := signed(x.z.Uint64(), sign); got != want {
					t.Fatalf("%s(%g): draw %d: %d with the filter, %d without", s.name, scale, i, got, want)
				}
			}
		}
	}
}

// roundOracle rounds mant (z + w/2^64) 2^-shift with rationals.
func roundOracle(g *continuous, z, w uint64) int64 {
	x := new(big.Int).Lsh(new(big.Int).SetUint64(z), 64)
	x.Or(x, new(big.Int).SetUint64(w)).Mul(x, new(big.Int).SetUint64(g.mant))
	v := new(big.Rat).SetFrac(x, new(big.Int).Lsh(big.NewInt(1), g.shift+64))
	v.Add(v, big.NewRat(1, 2))
	return new(big.Int).Quo(v.Num(), v.Denom()).Int64()
}

func TestDrawsNearARoundingBoundaryAreResolvedByMoreBits(t *testing.T) {
	for _, scale := range []float64{1, 3.3, 1e6, 1 << 30, 1e12} {
		g, err := NewGaussian(scale)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int64]int{}
		for k := int64(1); k < 400; k++ {
			// z is the 64-bit prefix whose unit interval holds the boundary k - 1/2.
			b := new(big.Int).Lsh(big.NewInt(2*k-1), g.shift-1)
			b.Quo(b, new(big.Int).SetUint64(g.mant))
			if !b.IsUint64() {
				break
			}
			z := b.Uint64()
			for _, w := range []uint64{0, 1 << 62, 1 << 63, 3 << 62, math.MaxUint64} {
				src := script(1, w)
				got, want := g.finish(src, z, 0), roundOracle(&g.continuous, z, w)
				if got != want {
					t.Fatalf("Gaussian(%g): z %#x, then %#x: %d; want %d", scale, z, w, got, want)
				}
				if neg := g.finish(script(1, w), z, 1); neg != -want {
					t.Fatalf("Gaussian(%g): negative of %d is %d", scale, want, neg)
				}
				seen[got-k]++
			}
		}
		// For a power of two the boundaries are dyadic and fall between prefixes.
		if g.mant == 1<<52 {
			seen[-1]++
		}
		if seen[0] == 0 || seen[-1] == 0 || len(seen) != 2 {
			t.Errorf("Gaussian(%g): the boundary was not met: %v", scale, seen)
		}
	}
}

func TestFinishRoundsToNearest(t *testing.T) {
	src := NewSeeded(33)
	for _, scale := range testScales {
		l, err := NewLaplace(scale)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			z := src.Uint64()
			if got, want := l.finish(NewSeeded(0), z, 0), roundOracle(&l.continuous, z, 1<<63); got != want {
				t.Fatalf("Laplace(%g): z %#x: %d; want %d", scale, z, got, want)
			}
		}
	}
}

func TestTailFollowsTheConditionalLaw(t *testing.T) {
	// Survival functions of |X| given that it is beyond the table, at x strips.
	tails := []struct {
		name     string
		cover    *cover
		survival func(x float64) float64
	}{
		{"Gaussian", gaussianCover(), func(x float64) float64 {
			return math.Erfc(x/64/math.Sqrt2) / math.Erfc(8/math.Sqrt2)
		}},
		{"Laplace", laplaceCover(), func(x float64) float64 { return math.Exp(16 - x/32) }},
	}
	for _, tail := range tails {
		const want, cells = 1500, 20
		src := NewSeeded(34)
		counts, uniform := make([]int, cells), make([]float64, cells)
		negative, trials := 0, 0
		for n := 0; n < want; trials++ {
			x, sign, ok := tail.cover.drawTail(src)
			if !ok {
				continue
			}
			v, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(x.z), -int(x.n)).Float64()
			counts[min(int(cells*tail.survival(v)), cells-1)]++
			negative += int(sign)
			n++
		}
		for i := range uniform {
			uniform[i] = 1. / cells
		}
		if p := chiSquared(counts, uniform); p < falseAlarm {
			t.Errorf("%s: p = %.2g", tail.name, p)
		}
		if z := (float64(negative) - want/2) / math.Sqrt(want/4); math.Abs(z) > 6.5 {
			t.Errorf("%s: %d of %d negative", tail.name, negative, want)
		}
		// The share of accepted darts is the area under the density over the
		// hat's, 2 tail blocks.
		area := 64 * math.Sqrt(math.Pi/2) * math.Erfc(8/math.Sqrt2)
		if tail.name == "Laplace" {
			area = 32 * math.Exp(-16)
		}
		scale, _ := new(big.Float).SetInt(tail.cover.scale).Float64()
		share := area * scale / (float64(tail.cover.tail) * math.Ldexp(2, int(tail.cover.block)))
		spread := math.Sqrt(float64(trials) * share * (1 - share))
		if z := (want - share*float64(trials)) / spread; math.Abs(z) > 6.5 {
			t.Errorf("%s: accepted %d of %d; want a share of %.4f", tail.name, want, trials, share)
		}
	}
}

func TestDiscreteTailFollowsTheConditionalLaw(t *testing.T) {
	// At scale 32 the discrete Laplace table ends at 512 = 16 scales, beyond
	// which the law is geometric again.
	l, err := NewDiscreteLaplace(32)
	if err != nil {
		t.Fatal(err)
	}
	src := NewSeeded(35)
	const want, cells, width = 4000, 12, 10
	counts, probability := make([]int, cells), make([]float64, cells)
	for n := 0; n < want; {
		k, ok := l.sampleTail(src)
		if !ok {
			continue
		}
		if k = max(k, -k); k < strips {
			t.Fatalf("%d is not in the tail", k)
		}
		counts[min(int(k-strips)/width, cells-1)]++
		n++
	}
	for i := range probability {
		probability[i] = math.Exp(-float64(i) * width / 32)
		if i < cells-1 {
			probability[i] -= math.Exp(-float64(i+1) * width / 32)
		}
	}
	if p := chiSquared(counts, probability); p < falseAlarm {
		t.Errorf("p = %.2g", p)
	}
}

func TestDartsInTheRestReachGapsAndTail(t *testing.T) {
	c := laplaceCover() // the tail has weight 1e-7 of all and 7e-6 of the rest
	gaps := c.edges[strips]
	for _, test := range []struct {
		v     uint64
		at    place
		strip uint64
	}{
		{0, inGap, 0}, {c.edges[1] - 1, inGap, 0}, {c.edges[1], inGap, 1}, {c.edges[300], inGap, 300},
		{gaps - 1, inGap, other}, {gaps, inTail, 0}, {gaps + 64*c.tail - 1, inTail, 0}, {gaps + 64*c.tail, inWaste, 0},
	} {
		// Uint64n(n) is the high word of word * n: the third of some 30 words that
		// give v, since the first may be one that it rejects.
		word := new(big.Int).Lsh(new(big.Int).SetUint64(test.v), 64)
		word.Add(word, new(big.Int).SetUint64(c.rest-1)).Quo(word, new(big.Int).SetUint64(c.rest))
		at, strip, height := c.pickRest(script(1, word.Uint64()+2))
		if at != test.at || strip != test.strip {
			t.Errorf("area %d: place %d, strip %d; want %d, %d", test.v, at, strip, test.at, test.strip)
		}
		if at == inGap && (height < c.low[strip] || height >= c.high[strip]) {
			t.Errorf("area %d: height %d is not in the gap of strip %d", test.v, height, strip)
		}
	}
}
