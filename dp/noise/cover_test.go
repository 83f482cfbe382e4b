package noise

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// namedCover is a cover with what the test must know of how it was made.
type namedCover struct {
	name     string
	cover    *cover
	points   uint
	discrete bool
}

// everyCover lists the two shared covers and discrete ones over the range.
func everyCover(t *testing.T) []namedCover {
	t.Helper()
	all := []namedCover{
		{"Gaussian", gaussianCover(), 0, false},
		{"Laplace", laplaceCover(), 0, false},
	}
	for _, x := range []float64{0.001, 0.7, 32, 33, 64, 64.5, 65, 1000.1, 1 << 20, 1<<31 + 1, 1 << 40} {
		g, err := NewDiscreteGaussian(x)
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewDiscreteLaplace(x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, namedCover{fmt.Sprintf("DiscreteGaussian(%g)", x), g.cover, g.points, true},
			namedCover{fmt.Sprintf("DiscreteLaplace(%g)", x), l.cover, l.points, true})
	}
	return all
}

func TestAliasTablesGiveEveryItemItsExactArea(t *testing.T) {
	for _, c := range everyCover(t) {
		var area [strips]big.Int
		total := new(big.Int)
		for i, entry := range c.cover.alias {
			own := entry >> stripBits
			area[i].Add(&area[i], new(big.Int).SetUint64(own))
			j := entry % strips
			area[j].Add(&area[j], new(big.Int).SetUint64(1<<lowBits-own))
		}
		for j := range area {
			want := c.cover.low[j]
			if j == other {
				want = c.cover.rest
			}
			if area[j].Cmp(new(big.Int).SetUint64(want)) != 0 {
				t.Errorf("%s: item %d has area %v; want %d", c.name, j, &area[j], want)
			}
			total.Add(total, &area[j])
		}
		if total.Cmp(new(big.Int).Lsh(big.NewInt(1), 64)) != 0 {
			t.Errorf("%s: total area %v", c.name, total)
		}
	}
}

func TestPickFollowsTheAliasTable(t *testing.T) {
	// The words at both sides of every threshold.
	c := gaussianCover()
	for i, entry := range c.alias {
		threshold := entry >> stripBits
		if threshold > 0 {
			if got := c.pick((threshold-1)<<stripBits | uint64(i)); got != uint64(i) {
				t.Fatalf("column %d below its threshold: %d", i, got)
			}
		}
		if got := c.pick(threshold<<stripBits | uint64(i)); got != entry%strips {
			t.Fatalf("column %d at its threshold: %d; want %d", i, got, entry%strips)
		}
	}
}

// scaled encloses scale f(z/2^n) with 128 bits after the point.
func (t *cover) scaled(z *big.Int, n uint) (lo, hi *big.Int) {
	const p = 256
	lo, hi = t.enclose(z, n, p)
	return lo.Mul(lo, t.scale).Rsh(lo, p-128), hi.Mul(hi, t.scale).Rsh(hi, p-128)
}

func fixed128(x uint64) *big.Int { return new(big.Int).Lsh(new(big.Int).SetUint64(x), 128) }

func TestHatsAndBodiesEncloseTheDensity(t *testing.T) {
	for _, c := range everyCover(t) {
		for j := range int64(strips) {
			left := new(big.Int).Lsh(big.NewInt(j), c.points)
			right := new(big.Int).Lsh(big.NewInt(j+1), c.points)
			if c.discrete {
				right.Sub(right, big.NewInt(1))
			}
			_, top := c.cover.scaled(left, c.points)
			bottom, _ := c.cover.scaled(right, c.points)
			if fixed128(c.cover.high[j]).Cmp(top) < 0 {
				t.Fatalf("%s: the hat of strip %d is below the density", c.name, j)
			}
			if fixed128(c.cover.low[j]).Cmp(bottom) > 0 {
				t.Fatalf("%s: the body of strip %d is above the density", c.name, j)
			}
			// And no more than two units away, or time is wasted and lemma 4 fails.
			if fixed128(c.cover.high[j]-min(c.cover.high[j], 2)).Cmp(top) > 0 {
				t.Fatalf("%s: the hat of strip %d is loose", c.name, j)
			}
			if j != other && fixed128(c.cover.low[j]+2).Cmp(bottom) < 0 {
				t.Fatalf("%s: the body of strip %d is loose", c.name, j)
			}
		}
		// The tail halves from block to block.
		for m := range uint(200) {
			start := new(big.Int).Lsh(big.NewInt(int64(strips+m<<c.cover.block)), c.points)
			_, top := c.cover.scaled(start, c.points)
			if new(big.Int).Rsh(fixed128(c.cover.tail), m).Cmp(top) < 0 && top.Cmp(big.NewInt(2)) > 0 {
				t.Fatalf("%s: block %d of the tail is above its hat", c.name, m)
			}
		}
	}
}

func TestTheRestHasRoomForGapsAndTail(t *testing.T) {
	for _, c := range everyCover(t) {
		need := new(big.Int).SetUint64(c.cover.tail)
		need.Lsh(need, c.cover.block+1).Add(need, new(big.Int).SetUint64(c.cover.edges[strips]))
		rest := new(big.Int).SetUint64(c.cover.rest)
		if need.Cmp(rest) > 0 {
			t.Errorf("%s: gaps and tail need %v; there is %v", c.name, need, rest)
		}
		// At most 2^-40 of all darts are wasted outright.
		if rest.Sub(rest, need).Cmp(big.NewInt(1<<24)) > 0 {
			t.Errorf("%s: %v of 2^64 is waste", c.name, rest)
		}
	}
}

// gapPoint draws a strip and a position in it of the kind that the cover's
// sampler passes to the filter.
func gapPoint(t *rapid.T, c namedCover) (j, u, z uint64, n uint) {
	j = rapid.Uint64Max(strips-1).Draw(t, "strip")
	if c.discrete {
		low := rapid.Uint64Max(1<<c.points-1).Draw(t, "low")
		return j, low << (64 - c.points), j<<c.points | low, c.points
	}
	u = rapid.Uint64Max(1<<lowBits-1).Draw(t, "u")
	return j, u << stripBits, j<<lowBits | u, lowBits
}

// filterError returns by how much the filter's height can be wrong, in units of
// height, for the dart at u in strip j, whose position is in z/2^n.
func filterError(c namedCover, j, u, z uint64, n uint) float64 {
	x := new(big.Int).SetUint64(z)
	_, top := c.cover.scaled(x, n)
	if !c.discrete {
		x.Add(x, big.NewInt(1))
	}
	bottom, _ := c.cover.scaled(x, n)
	height := fixed128(c.cover.filterHeight(j, u))
	worst := new(big.Int).Sub(top, height)
	if low := new(big.Int).Sub(height, bottom); low.Cmp(worst) > 0 {
		worst = low
	}
	e, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(worst), -128).Float64()
	return e
}

// filterBound is the bound of lemma 4 in docs/proofs/noise.md; the filter allows
// for 64.
const filterBound = 4

func TestFilterErrorIsBelowItsBound(t *testing.T) {
	covers := everyCover(t)
	rapid.Check(t, func(t *rapid.T) { // which tends to corners
		c := rapid.SampledFrom(covers).Draw(t, "cover")
		j, u, z, n := gapPoint(t, c)
		if e := filterError(c, j, u, z, n); e >= filterBound {
			t.Fatalf("%s: strip %d, u %#x: error %v", c.name, j, u, e)
		}
	})
	src, worst := NewSeeded(21), 0.0
	for _, c := range covers { // and uniform darts
		for range 200 {
			j, u := src.Uint64n(strips), src.Uint64()>>stripBits
			z, n := j<<lowBits|u, uint(lowBits)
			if c.discrete {
				low := u & (1<<c.points - 1)
				z, n, u = j<<c.points|low, c.points, low<<(lowBits-c.points)
			}
			e := filterError(c, j, u<<stripBits, z, n)
			if e >= filterBound {
				t.Fatalf("%s: strip %d, u %#x: error %v", c.name, j, u, e)
			}
			worst = max(worst, e)
		}
	}
	t.Logf("largest error %.3f units", worst)
}

func TestFilterNeverContradictsTheExactComparison(t *testing.T) {
	covers := everyCover(t)
	src := NewSeeded(20)
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(covers).Draw(t, "cover")
		j, u, z, n := gapPoint(t, c)
		height := c.cover.filterHeight(j, u)
		y := height + uint64(rapid.Int64Range(-200, 200).Draw(t, "offset"))
		if y > 1<<63 && height < 1<<62 {
			y = 0
		}
		switch c.cover.filter(j, u, y) {
		case under:
			if !c.cover.under(src, newPrefix(z, n, c.discrete), newPrefix(y, 0, false)) {
				t.Fatalf("%s: strip %d, u %#x, y %d: the filter accepts a dart above the density", c.name, j, u, y)
			}
		case over:
			if c.cover.under(src, newPrefix(z, n, c.discrete), newPrefix(y, 0, false)) {
				t.Fatalf("%s: strip %d, u %#x, y %d: the filter rejects a dart under the density", c.name, j, u, y)
			}
		case unknown:
			if d := int64(y - height); d > 2*margin || d < -2*margin {
				t.Fatalf("%s: undecided at distance %d", c.name, d)
			}
		}
	})
}

// TestWordsAreComputedAsIntegers compares products and heights with those of math/big, at random
// and where words or values are at their ends.
func TestWordsAreComputedAsIntegers(t *testing.T) {
	word := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, tableSlack, ^uint64(0)}))
	one := new(big.Int).Lsh(big.NewInt(1), tableBits)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (fixed, *big.Int) {
			x := fixed{word.Draw(t, name), word.Draw(t, name), word.Draw(t, name)}
			return x, integer(x[:])
		}
		x, bigX := draw("x")
		y, bigY := draw("y")
		product := x.times(y)
		if got, want := integer(product[:]), new(big.Int).Mul(bigX, bigY); got.Cmp(want.Quo(want, one)) != 0 {
			t.Fatalf("%v times %v is %v; want %v", x, y, got, want)
		}
		scale := min(word.Draw(t, "scale"), 1<<64-1024)
		for up, slack := range map[bool]int64{true: tableSlack, false: -tableSlack} {
			want := new(big.Int).Add(bigX, big.NewInt(slack))
			want.Mul(want, new(big.Int).SetUint64(scale))
			if up {
				want.Quo(want, one).Add(want, big.NewInt(1))
			} else if want.Quo(want, one); want.Sign() < 0 {
				want.SetInt64(0)
			}
			if got := x.height(scale, up); want.Cmp(new(big.Int).SetUint64(got)) != 0 {
				t.Fatalf("%v times %d, up %v, is %d; want %v", x, scale, up, got, want)
			}
		}
	})
}
