package mechanism

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// smallMoments and smallRatio have a lattice so coarse that all of its points
// can be enumerated. The sensitivity claims must hold on it as well.
func smallMoments(adjacency dp.Adjacency, radius uint64) *Moments {
	m, err := NewMoments(-1, 1, 1, adjacency, Exact)
	if err != nil {
		panic(err)
	}
	m.total.grid.step = 1 / float64(radius)
	m.total.grid.radius = radius
	return m
}

// TestMomentsDiameter enumerates pairs of points: under ReplaceOne no two are
// further apart than the range itself, rounding included.
func TestMomentsDiameter(t *testing.T) {
	for radius := uint64(1); radius <= 300; radius++ {
		m := smallMoments(dp.ReplaceOne, radius)
		limit := 4 * int64(radius*radius)
		for a := -int64(radius); a <= int64(radius); a++ {
			for b := a; b <= int64(radius); b++ {
				d := m.squared(a) - m.squared(b)
				if (a-b)*(a-b)+d*d > limit {
					t.Fatalf("radius %d: points %d and %d are further apart than the range", radius, a, b)
				}
			}
		}
	}
}

// further reports whether x^2 + y^2 > (2k)^2, exactly.
func further(x, y, k int64) bool {
	square := func(v int64) *big.Int { return new(big.Int).Mul(big.NewInt(v), big.NewInt(v)) }
	sum := square(x)
	return sum.Add(sum, square(y)).Cmp(square(2*k)) > 0
}

// TestMomentsDiameterOnTheRealLattice tries random pairs and the neighbourhood
// of the extremes on a lattice of full resolution.
func TestMomentsDiameterOnTheRealLattice(t *testing.T) {
	m, err := NewMoments(-1, 1, 1, dp.ReplaceOne, Exact)
	if err != nil {
		t.Fatal(err)
	}
	k := int64(m.total.grid.radius)
	rapid.Check(t, func(t *rapid.T) {
		point := rapid.OneOf(rapid.Int64Range(-k, k), rapid.Int64Range(k-50, k), rapid.Int64Range(-k, 50-k))
		a, b := point.Draw(t, "a"), point.Draw(t, "b")
		d := m.squared(a) - m.squared(b)
		if further(a-b, d, k) {
			t.Fatalf("points %d and %d are further apart than the range", a, b)
		}
	})
}

func TestMomentsNormUnderAddRemoveOne(t *testing.T) {
	for _, radius := range []uint64{1, 2, 7, 100, 1000} {
		m := smallMoments(dp.AddRemoveOne, radius)
		norm := m.shape.norm(dp.AddRemoveOne) * float64(radius)
		for a := -int64(radius); a <= int64(radius); a++ {
			x, y, z := float64(a), float64(m.squared(a)), float64(m.one())
			if math.Sqrt(x*x+y*y+z*z) > norm {
				t.Fatalf("radius %d: the point of %d is longer than %v", radius, a, norm)
			}
		}
	}
}

// TestLaplaceMomentsKeepToTheirNorm enumerates points on coarse lattices: under ReplaceOne no two
// differ by more than twice the event's norm in l1, under AddRemoveOne none is longer.
func TestLaplaceMomentsKeepToTheirNorm(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, radius := range []uint64{1, 2, 7, 50, 300} {
			m, err := NewLaplaceMoments(-1, 1, 1, adjacency)
			if err != nil {
				t.Fatal(err)
			}
			m.total.grid.step, m.total.grid.radius = 1/float64(radius), radius
			norm := m.Event().(dp.DiscreteLaplace).Norm
			for a := -int64(radius); a <= int64(radius); a++ {
				x, y, z := math.Abs(float64(a)), math.Abs(float64(m.squared(a))), float64(m.one())
				if adjacency == dp.AddRemoveOne && x+y+z > norm {
					t.Fatalf("radius %d: the point of %d is longer than %v", radius, a, norm)
				}
				for b := a; b <= int64(radius); b++ {
					if far := math.Abs(float64(a-b)) + math.Abs(float64(m.squared(a)-m.squared(b))); adjacency == dp.ReplaceOne && far > 2*norm {
						t.Fatalf("radius %d: points %d and %d are %v apart, and the norm is %v", radius, a, b, far, norm)
					}
				}
			}
		}
	}
}

// TestLaplaceMomentsAreUnbiased: the mean of many releases is that of the data, and the noise has the
// standard deviations that are told, within five standard errors.
func TestLaplaceMomentsAreUnbiased(t *testing.T) {
	const runs = 1500
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		src := noise.NewSeeded(4)
		var sums, squares [3]float64
		var sd [3]float64
		for range runs {
			m, err := NewLaplaceMoments(-1, 3, 0.5, adjacency)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(m.Add(3), m.Add(0), m.Add(-5)); err != nil { // clipped to -1
				t.Fatal(err)
			}
			noisy, event, err := m.Release(src)
			if _, ok := event.(dp.DiscreteLaplace); !ok || err != nil {
				t.Fatal(event, err)
			}
			sd = [3]float64{noisy.CountSD, noisy.SumSD, noisy.SquaresSD}
			for i, off := range []float64{noisy.Count - 3, noisy.Sum - (2 - 1 - 2), noisy.Squares - (4 + 1 + 4)} {
				sums[i], squares[i] = sums[i]+off, squares[i]+off*off
			}
		}
		for i, name := range []string{"count", "sum", "squares"} {
			if mean := sums[i] / runs; math.Abs(mean) > 5*sd[i]/math.Sqrt(runs)+1e-7 {
				t.Errorf("%v: %s is off by %v", adjacency, name, mean)
			}
			if got := squares[i] / runs; math.Abs(got-sd[i]*sd[i]) > 5*sd[i]*sd[i]*math.Sqrt(5./runs)+1e-12 {
				t.Errorf("%v: noise in %s has variance %v; want %v", adjacency, name, got, sd[i]*sd[i])
			}
		}
	}
}

func smallRatio(adjacency dp.Adjacency, radius uint64) *Ratio {
	r, err := NewRatio(-1, 1, 1, 1, adjacency, Exact)
	if err != nil {
		panic(err)
	}
	r.total.grid.step = 1 / float64(radius)
	r.total.grid.radius = radius
	return r
}

// ratioPoints enumerates the rounded points over a fine grid of values and
// weights, a good deal finer than the lattice.
func ratioPoints(r *Ratio, radius int) map[[2]int64]bool {
	points := map[[2]int64]bool{{}: true}
	n := 5 * radius
	for i := 0; i <= n; i++ {
		w := float64(i) / float64(n)
		for j := -n; j <= n; j++ {
			r.place(float64(j)/float64(n), w)
			points[r.point] = true
		}
	}
	return points
}

func TestRatioDiameter(t *testing.T) {
	for radius := 2; radius <= 14; radius++ {
		r := smallRatio(dp.ReplaceOne, uint64(radius))
		points := ratioPoints(r, radius)
		limit := 4 * int64(radius) * int64(radius)
		for a := range points {
			for b := range points {
				x, y := a[0]-b[0], a[1]-b[1]
				if x*x+y*y > limit {
					t.Fatalf("radius %d: points %v and %v are further apart than the range", radius, a, b)
				}
			}
		}
	}
}

// TestRatioDiameterOnTheRealLattice tries pairs near the corners of the triangle.
func TestRatioDiameterOnTheRealLattice(t *testing.T) {
	r, err := NewRatio(-1, 1, 1, 1, dp.ReplaceOne, Exact)
	if err != nil {
		t.Fatal(err)
	}
	k := int64(r.total.grid.radius)
	near := func(t *rapid.T, name string) [2]int64 {
		unit := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(1-1e-8, 1), rapid.Float64Range(-1, 1e-8-1), rapid.SampledFrom([]float64{-1, 0, 1}))
		r.place(unit.Draw(t, name+" value"), math.Abs(unit.Draw(t, name+" weight")))
		return r.point
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := near(t, "a"), near(t, "b")
		x, y := a[0]-b[0], a[1]-b[1]
		if further(x, y, k) {
			t.Fatalf("points %v and %v are further apart than the range", a, b)
		}
	})
}

func TestRatioNormUnderAddRemoveOne(t *testing.T) {
	for radius := 2; radius <= 14; radius++ {
		r := smallRatio(dp.AddRemoveOne, uint64(radius))
		longest := math.Sqrt(1+r.height*r.height) * float64(radius)
		for p := range ratioPoints(r, radius) {
			if math.Hypot(float64(p[0]), float64(p[1])) > longest {
				t.Fatalf("radius %d: point %v is longer than %v", radius, p, longest)
			}
		}
	}
}

func TestBrokenRecordsCountAsTheCentre(t *testing.T) {
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
	m, err := NewMoments(0, 10, 1, dp.ReplaceOne, Exact)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRatio(0, 10, 2, 1, dp.ReplaceOne, Exact)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add(5); err != nil {
		t.Fatal(err)
	}
	centre := m.point
	for _, x := range bad {
		if err := m.Add(x); err != nil {
			t.Fatal(err)
		}
		if m.point != centre {
			t.Errorf("moments: %v counts as %v; want the centre %v", x, m.point, centre)
		}
		for _, pair := range [][2]float64{{x, 1}, {1, x}} {
			if err := r.Add(pair[0], pair[1]); err != nil {
				t.Fatal(err)
			}
			if r.point != [2]int64{} {
				t.Errorf("ratio: %v counts as %v; want weight 0", pair, r.point)
			}
		}
	}
	if err := r.Add(1, -3); err != nil || r.point != [2]int64{} {
		t.Errorf("ratio: a negative weight counts as %v, %v; want weight 0", r.point, err)
	}
}
