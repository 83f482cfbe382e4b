package mechanism

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

var threeCaps = []float64{3, 0.5, 40}

func newPairs(t testing.TB, most []float64, multiplier float64, adjacency dp.Adjacency) *Pairs {
	t.Helper()
	p, err := NewPairs(most, multiplier, adjacency, Exact)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// standing is where a person who adds such numbers stands.
func standing(t testing.TB, p *Pairs, xz ...float64) []int64 {
	t.Helper()
	if err := p.Add(xz); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(p.point)
}

// inner is the inner product of two points, exactly.
func inner(a, b []int64) *big.Int {
	sum := new(big.Int)
	for i, v := range a {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(v), big.NewInt(b[i])))
	}
	return sum
}

// between is their squared distance.
func between(a, b []int64) *big.Int {
	d := new(big.Int).Add(inner(a, a), inner(b, b))
	return d.Sub(d, new(big.Int).Lsh(inner(a, b), 1))
}

// TestPairsSensitivity: whatever two persons add, to one pair, to two or to all of them, far more than the caps allow
// or numbers below 0, their points are no farther apart than the noise is made for (twice half the diameter) and no
// longer; and the worst of them nearly are.
func TestPairsSensitivity(t *testing.T) {
	unit := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-8), rapid.Float64Range(1-1e-8, 1+1e-8),
		rapid.SampledFrom([]float64{0, 0.5, 1, -1, 7, 1e300, math.Inf(1), math.NaN()}))
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := newPairs(t, threeCaps, 1, adjacency)
		norm, _ := new(big.Float).Mul(big.NewFloat(p.shape.norm(adjacency)), new(big.Float).SetUint64(p.total.grid.radius)).Int(nil)
		limit := new(big.Int).Mul(norm, norm)
		far := func(a, b []int64) *big.Int { return inner(a, a) }
		if adjacency == dp.ReplaceOne {
			limit.Lsh(limit, 2)
			far = between
		}
		rapid.Check(t, func(r *rapid.T) {
			point := func() []int64 {
				xz := make([]float64, 2*len(threeCaps))
				for i := range xz {
					if rapid.Bool().Draw(r, "adds") {
						xz[i] = unit.Draw(r, "share") * threeCaps[i/2]
					}
				}
				return standing(t, p, xz...)
			}
			if a, b := point(), point(); far(a, b).Cmp(limit) > 0 {
				r.Fatalf("%v: points %v and %v are farther than the noise is made for", adjacency, a, b)
			}
		})
		a, b := standing(t, p, 3, 0, 0, 0, 0, 0), standing(t, p, 0, 0, 0, 0, 0, 40)
		if share, _ := new(big.Rat).SetFrac(far(a, b), limit).Float64(); share < 1-1e-7 {
			t.Errorf("%v: the farthest are %v of what the noise is made for", adjacency, share)
		}
	}
}

// TestLaplacePairsSensitivity: the same in l1: no point is longer than the norm of the event, and no two are farther apart than
// twice that; the worst nearly are.
func TestLaplacePairsSensitivity(t *testing.T) {
	unit := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-8), rapid.Float64Range(1-1e-8, 1+1e-8),
		rapid.SampledFrom([]float64{0, 0.5, 1, -1, 7, 1e300, math.Inf(1), math.NaN()}))
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p, err := NewLaplacePairs(threeCaps, 1, adjacency)
		if err != nil {
			t.Fatal(err)
		}
		norm := p.Event().(dp.DiscreteLaplace).Norm
		length := func(a []int64) (sum float64) {
			for _, v := range a {
				sum += math.Abs(float64(v))
			}
			return sum
		}
		rapid.Check(t, func(r *rapid.T) {
			xz := make([]float64, 2*len(threeCaps))
			for i := range xz {
				if rapid.Bool().Draw(r, "adds") {
					xz[i] = unit.Draw(r, "share") * threeCaps[i/2]
				}
			}
			if a := standing(t, p, xz...); length(a) > norm {
				r.Fatalf("%v: point %v is longer than the noise is made for", adjacency, a)
			}
		})
		a, b := standing(t, p, 3, 0, 0, 0, 0, 0), standing(t, p, 0, 0, 0, 0, 0, 40)
		far := length(a)
		if adjacency == dp.ReplaceOne {
			for i := range b {
				b[i] -= a[i]
			}
			far = length(b) / 2
		}
		if far < norm*(1-1e-7) {
			t.Errorf("%v: the farthest are %v apart, and the noise is made for %v", adjacency, far, norm)
		}
	}
}

// TestPairsShrinkTogether: who adds to several pairs more than one whole weight is shrunk in all of them by one factor, and nobody else
// is touched.
func TestPairsShrinkTogether(t *testing.T) {
	p := newPairs(t, []float64{2, 4}, 1, dp.ReplaceOne)
	for _, c := range []struct{ adds, counts []float64 }{
		{[]float64{2, 0, 0, 4}, []float64{1, 0, 0, 2}}, {[]float64{6, 2, 0, 0}, []float64{1.5, 0.5, 0, 0}}, {[]float64{1, 0, 1, 0}, []float64{1, 0, 1, 0}},
		{[]float64{-1, 1, 2, -3}, []float64{0, 1, 2, 0}}, {[]float64{math.NaN(), 1, 1, 1}, make([]float64, 4)}, {[]float64{1, 1, math.Inf(1), 0}, make([]float64, 4)},
	} {
		if got, want := standing(t, p, c.adds...), standing(t, p, c.counts...); !slices.Equal(got, want) {
			t.Errorf("%v stands at %v; want where %v stands, %v", c.adds, got, c.counts, want)
		}
	}
}

// TestPairsAreUnbiasedAndSayTheirNoise at five standard errors, in every pair; of Laplace noise, whose squares scatter more, at eight. With Laplace
// noise weights are 0 or the largest.
func TestPairsAreUnbiasedAndSayTheirNoise(t *testing.T) {
	varied := [][]float64{{4, 0, 0, 0}, {1, 2, 0, 0}, {0, 0, 8, 0}, {0, 0, 3, 2}, {1, 1, 1, 3}, {0, 0, 0, 0}}
	whole := [][]float64{{4, 0, 0, 0}, {1, 3, 0, 0}, {0, 0, 8, 0}, {0, 0, 5, 3}, {0, 0, 0, 8}, {0, 0, 0, 0}}
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		unbiased(t, adjacency, 5, varied, func() (*Pairs, error) { return NewPairs([]float64{4, 8}, 1, adjacency, Exact) })
		unbiased(t, adjacency, 8, whole, func() (*Pairs, error) { return NewLaplacePairs([]float64{4, 8}, 1, adjacency) })
	}
}

// unbiased draws sums of two pairs many times.
func unbiased(t *testing.T, adjacency dp.Adjacency, errs float64, persons [][]float64, made func() (*Pairs, error)) {
	t.Helper()
	const draws = 4000
	src := noise.NewSeeded(3)
	sums, squares, stated, truth := make([]float64, 16), make([]float64, 16), make([]float64, 16), make([]float64, 16)
	for _, xz := range persons {
		for pair := range 2 {
			x, z := xz[2*pair], xz[2*pair+1]
			for i, v := range []float64{1, x, z, x * x, x * z, z * z, x - z, x + z} {
				truth[8*pair+i] += v
			}
		}
	}
	for range draws {
		p, err := made()
		if err != nil {
			t.Fatal(err)
		}
		for _, xz := range persons {
			if err := p.Add(xz); err != nil {
				t.Fatal(err)
			}
		}
		out, err := p.Release(src)
		if err != nil {
			t.Fatal(err)
		}
		for pair, o := range out {
			copy(stated[8*pair:], []float64{o.SD.Count, o.SD.Sum, o.SD.Sum, o.SD.Square, o.SD.Product, o.SD.Square, o.SD.Difference, o.SD.Both})
			for i, v := range []float64{o.Count, o.X, o.Z, o.XX, o.XZ, o.ZZ, o.X - o.Z, o.X + o.Z} {
				sums[8*pair+i] += v / draws
				squares[8*pair+i] += v * v / draws
			}
		}
		if _, err := p.Release(src); !errors.Is(err, ErrReleased) {
			t.Fatalf("a second release: %v", err)
		}
	}
	for i := range sums {
		found := math.Sqrt(max(squares[i]-sums[i]*sums[i], 0))
		if math.Abs(sums[i]-truth[i]) > errs*found/math.Sqrt(draws)+1e-6 {
			t.Errorf("%v: number %d is %v on average; want %v", adjacency, i, sums[i], truth[i])
		}
		if math.Abs(found-stated[i]) > errs*stated[i]/math.Sqrt(2*draws)+1e-5 {
			t.Errorf("%v: noise in number %d has standard deviation %v; the release says %v", adjacency, i, found, stated[i])
		}
	}
}

// TestPairsDoNotDependOnShards: one shard and three give equal numbers, and pairs of other caps do not merge.
func TestPairsDoNotDependOnShards(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		whole, shards := newPairs(t, threeCaps, 2, adjacency), make([]*Pairs, 3)
		for i := range shards {
			shards[i] = newPairs(t, threeCaps, 2, adjacency)
		}
		for i := range 60 {
			xz := []float64{float64(i%13) / 7, 0, float64(i%11) / 90, 0.1, 0, float64(i % 5)}
			for _, p := range []*Pairs{whole, shards[i%3]} {
				if err := p.Add(xz); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, s := range shards[1:] {
			if err := shards[0].Merge(s); err != nil {
				t.Fatal(err)
			}
		}
		a, err := whole.Release(noise.NewSeeded(5))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := shards[0].Release(noise.NewSeeded(5)); err != nil || !slices.Equal(a, b) {
			t.Errorf("%v: one shard %+v, three %+v, %v", adjacency, a, b, err)
		}
	}
	if err := newPairs(t, []float64{1, 2}, 1, dp.ReplaceOne).Merge(newPairs(t, []float64{1, 3}, 1, dp.ReplaceOne)); !errors.Is(err, ErrMismatch) {
		t.Errorf("pairs of other caps merge: %v", err)
	}
}

// TestPairsCostOne: of one pair or of eight, the noise in X - Z is that of a single Pair.
func TestPairsCostOne(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		alone := newPair(t, 5, 3, adjacency)
		for _, k := range []int{1, 8} {
			joint := newPairs(t, slices.Repeat([]float64{5}, k), 3, adjacency)
			if a, b := alone.SD().Difference, joint.SD(k-1).Difference; math.Abs(a-b) > 1e-6*a {
				t.Errorf("%v: the noise in a difference is %v of %d pairs and %v of one", adjacency, b, k, a)
			}
			if joint.Event() != alone.Event() {
				t.Errorf("%v: %d pairs are the event %v, one is %v", adjacency, k, joint.Event(), alone.Event())
			}
		}
	}
}

// TestPairsRefuse: parameters that make no sums.
func TestPairsRefuse(t *testing.T) {
	for _, c := range []struct {
		most       []float64
		multiplier float64
		adjacency  dp.Adjacency
		want       error
	}{
		{[]float64{1, 0}, 1, dp.ReplaceOne, ErrParameter}, {[]float64{1, math.Inf(1)}, 1, dp.ReplaceOne, ErrParameter}, {[]float64{math.NaN()}, 1, dp.ReplaceOne, ErrParameter},
		{[]float64{1}, 0, dp.ReplaceOne, ErrParameter}, {[]float64{1}, math.NaN(), dp.AddRemoveOne, ErrParameter}, {[]float64{1}, 1e12, dp.ReplaceOne, ErrParameter}, {[]float64{1}, 1, dp.Adjacency(9), dp.ErrAdjacency},
	} {
		if _, err := NewPairs(c.most, c.multiplier, c.adjacency, Exact); !errors.Is(err, c.want) {
			t.Errorf("NewPairs(%v, %v, %v): %v; want %v", c.most, c.multiplier, c.adjacency, err, c.want)
		}
	}
}
