package mechanism

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

func newPair(t testing.TB, most, multiplier float64, adjacency dp.Adjacency) *Pair {
	t.Helper()
	p, err := NewPair(most, multiplier, adjacency, Exact)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pointOf is where a person with shares x and z of most stands.
func pointOf(t testing.TB, p *Pair, x, z float64) [6]int64 {
	t.Helper()
	if err := p.Add(x*p.most, z*p.most); err != nil {
		t.Fatal(err)
	}
	return p.point
}

// squared is |a - b|^2 over the first dim coordinates, exactly.
func squared(a, b [6]int64, dim int) *big.Int {
	sum := new(big.Int)
	for i := range dim {
		d := big.NewInt(a[i] - b[i])
		sum.Add(sum, d.Mul(d, d))
	}
	return sum
}

// TestPairDiameter: under ReplaceOne no two points are farther apart than two
// corners, 2 most, and two corners are nearly so. All pairs of a grid over the
// triangle, and random pairs near corners and edges.
func TestPairDiameter(t *testing.T) {
	p := newPair(t, 3, 1, dp.ReplaceOne)
	k := new(big.Int).SetUint64(2 * p.total.grid.radius)
	limit := k.Mul(k, k)
	const n = 24
	var points [][6]int64
	for i := range n + 1 {
		for j := range n + 1 - i {
			points = append(points, pointOf(t, p, float64(i)/n, float64(j)/n))
		}
	}
	widest := new(big.Int)
	for i, a := range points {
		for _, b := range points[i:] {
			if d := squared(a, b, 5); d.Cmp(widest) > 0 {
				widest = d
			}
		}
	}
	if widest.Cmp(limit) > 0 {
		t.Errorf("the squared diameter is %v; the noise is made for %v", widest, limit)
	}
	if share, _ := new(big.Rat).SetFrac(widest, limit).Float64(); share < 1-1e-7 {
		t.Errorf("the squared diameter is only %v of what the noise is made for", share)
	}
	rapid.Check(t, func(r *rapid.T) {
		unit := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-8), rapid.Float64Range(1-1e-8, 1+1e-8), rapid.SampledFrom([]float64{0, 0.5, 1}))
		point := func(name string) [6]int64 {
			sum, share := unit.Draw(r, name+" sum"), unit.Draw(r, name+" share")
			return pointOf(t, p, sum*share, sum*(1-share))
		}
		if a, b := point("a"), point("b"); squared(a, b, 5).Cmp(limit) > 0 {
			r.Fatalf("points %v and %v are farther apart than two corners", a, b)
		}
	})
}

// TestPairNormUnderAddRemoveOne: no point is longer than the noise is made for, and
// a corner nearly is.
func TestPairNormUnderAddRemoveOne(t *testing.T) {
	p := newPair(t, 3, 1, dp.AddRemoveOne)
	norm := p.shape.norm(dp.AddRemoveOne) * float64(p.total.grid.radius)
	longest := 0.0
	const n = 200
	for i := range n + 1 {
		for j := range n + 1 - i {
			sum, _ := new(big.Float).SetInt(squared(pointOf(t, p, float64(i)/n, float64(j)/n), [6]int64{}, 6)).Float64()
			longest = max(longest, math.Sqrt(sum))
		}
	}
	if longest > norm || longest < norm*(1-1e-7) {
		t.Errorf("the longest point is %v; the noise is made for %v", longest, norm)
	}
}

// TestPairShrinksWhatIsTooLarge: both numbers by one factor, and nothing else.
func TestPairShrinksWhatIsTooLarge(t *testing.T) {
	p := newPair(t, 2, 1, dp.ReplaceOne)
	for _, c := range [][4]float64{
		{6, 2, 0.75, 0.25}, {-1, 1, 0, 0.5}, {1, -1, 0.5, 0}, {0, 0, 0, 0}, {1e308, 1e308, 0, 0}, {1e308, 0, 1, 0},
		{math.NaN(), 1, 0, 0}, {1, math.Inf(1), 0, 0}, {math.Inf(-1), math.Inf(1), 0, 0},
	} {
		if err := p.Add(c[0], c[1]); err != nil {
			t.Fatal(err)
		}
		if got := p.point; got != pointOf(t, p, c[2], c[3]) {
			t.Errorf("(%v, %v) stands at %v; want where (%v, %v) of most stands", c[0], c[1], got, c[2], c[3])
		}
	}
}

// TestPairIsUnbiasedAndSaysItsNoise at five standard errors.
func TestPairIsUnbiasedAndSaysItsNoise(t *testing.T) {
	const draws = 4000
	persons := [][2]float64{{4, 0}, {0, 4}, {1, 2}, {3, 0.5}, {0, 0}}
	var want [6]float64
	for _, c := range persons {
		for i, v := range [6]float64{1, c[0], c[1], c[0] * c[0], c[0] * c[1], c[1] * c[1]} {
			want[i] += v
		}
	}
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		src := noise.NewSeeded(3)
		var sums, squares [8]float64
		var sd PairSD
		for range draws {
			p := newPair(t, 4, 1, adjacency)
			for _, c := range persons {
				if err := p.Add(c[0], c[1]); err != nil {
					t.Fatal(err)
				}
			}
			out, _, err := p.Release(src)
			if err != nil {
				t.Fatal(err)
			}
			sd = out.SD
			for i, v := range [8]float64{out.Count, out.X, out.Z, out.XX, out.XZ, out.ZZ, out.X - out.Z, out.X + out.Z} {
				sums[i] += v / draws
				squares[i] += v * v / draws
			}
		}
		names := []string{"count", "x", "z", "xx", "xz", "zz", "x - z", "x + z"}
		truth := append(want[:], want[1]-want[2], want[1]+want[2])
		for i, stated := range []float64{sd.Count, sd.Sum, sd.Sum, sd.Square, math.NaN(), sd.Square, sd.Difference, sd.Both} {
			found := math.Sqrt(max(squares[i]-sums[i]*sums[i], 0))
			if math.IsNaN(stated) {
				stated = found
			}
			if math.Abs(sums[i]-truth[i]) > 5*found/math.Sqrt(draws)+1e-6 {
				t.Errorf("%v: %s is %v on average; want %v", adjacency, names[i], sums[i], truth[i])
			}
			if math.Abs(found-stated) > 5*stated/math.Sqrt(2*draws)+1e-5 {
				t.Errorf("%v: noise in %s has standard deviation %v; the release says %v", adjacency, names[i], found, stated)
			}
		}
	}
}

// TestPairDoesNotDependOnShards: one shard and seven give equal numbers.
func TestPairDoesNotDependOnShards(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		whole := newPair(t, 1.7, 2, adjacency)
		var shards [7]*Pair
		for i := range shards {
			shards[i] = newPair(t, 1.7, 2, adjacency)
		}
		for i := range 100 {
			x, z := float64(i%13)/7, float64(i%11)/9
			if err := whole.Add(x, z); err != nil {
				t.Fatal(err)
			}
			if err := shards[i%7].Add(x, z); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range shards[1:] {
			if err := shards[0].Merge(s); err != nil {
				t.Fatal(err)
			}
		}
		a, _, err := whole.Release(noise.NewSeeded(5))
		if err != nil {
			t.Fatal(err)
		}
		if b, _, err := shards[0].Release(noise.NewSeeded(5)); err != nil || a != b {
			t.Errorf("%v: one shard %+v, seven %+v, %v", adjacency, a, b, err)
		}
	}
	if err := newPair(t, 1, 1, dp.ReplaceOne).Merge(newPair(t, 2, 1, dp.ReplaceOne)); err != ErrMismatch {
		t.Errorf("pairs of two caps merge: %v", err)
	}
}

// TestPointsAreWithinARightAngle: under AddRemoveOne no two persons are farther apart than
// sqrt 2 times the length that the noise is made for, rounding included, so that noise for
// a person who leaves one sum and enters another covers a change within one.
func TestPointsAreWithinARightAngle(t *testing.T) {
	p := newPair(t, 3, 1, dp.AddRemoveOne)
	scale := new(big.Float).SetFloat64(p.shape.norm(dp.AddRemoveOne))
	scale.Mul(scale, scale).Mul(scale, big.NewFloat(2))
	radius := new(big.Float).SetInt(new(big.Int).SetUint64(p.total.grid.radius))
	limit, _ := scale.Mul(scale, radius).Mul(scale, radius).Int(nil)
	rapid.Check(t, func(r *rapid.T) {
		unit := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-8), rapid.Float64Range(1-1e-8, 1+1e-8), rapid.SampledFrom([]float64{0, 0.5, 1}))
		point := func(name string) [6]int64 {
			sum, share := unit.Draw(r, name+" sum"), unit.Draw(r, name+" share")
			return pointOf(t, p, sum*share, sum*(1-share))
		}
		a, b := point("a"), point("b")
		if squared(a, b, 6).Cmp(limit) > 0 {
			r.Fatalf("points %v and %v are farther apart than sqrt 2 times the longest", a, b)
		}
		inner := new(big.Int)
		for i := range 6 {
			inner.Add(inner, new(big.Int).Mul(big.NewInt(a[i]), big.NewInt(b[i])))
		}
		if least := new(big.Int).SetUint64(4 * p.total.grid.radius); inner.Cmp(least.Neg(least)) < 0 {
			r.Fatalf("points %v and %v: the inner product is %v", a, b, inner)
		}
	})
}
