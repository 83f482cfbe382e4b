package mechanism

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
)

// laplacePairs are the forms of a pair with Laplace noise.
var laplacePairs = []struct {
	adjacency dp.Adjacency
	upper     bool
}{{dp.ReplaceOne, true}, {dp.AddRemoveOne, true}, {dp.ReplaceOne, false}, {dp.AddRemoveOne, false}}

// TestLaplacePairKeepsToItsNorm: under ReplaceOne no two points are farther apart in l1 than twice
// the norm of the event, and under AddRemoveOne none is longer than it; two corners, or a corner and
// the middle of the edge from another to (0, 0), are nearly so. All pairs of a grid over the triangle,
// and random ones near corners and edges.
func TestLaplacePairKeepsToItsNorm(t *testing.T) {
	for _, c := range laplacePairs {
		adjacency := c.adjacency
		p, err := NewLaplacePair(3, 1, adjacency, c.upper)
		if err != nil {
			t.Fatal(err)
		}
		norm := p.Event().(dp.DiscreteLaplace).Norm
		size := func(a, b [6]int64) float64 {
			sum := 0.0
			for i := range p.total.sum {
				sum += math.Abs(float64(a[i] - b[i]))
			}
			return sum
		}
		far := func(a, b [6]int64) float64 {
			if adjacency == dp.AddRemoveOne {
				return max(size(a, [6]int64{}), size(b, [6]int64{}))
			}
			return size(a, b) / 2
		}
		widest := max(far(pointOf(t, p, 1, 0), pointOf(t, p, 0, 1)), far(pointOf(t, p, 0.5, 0), pointOf(t, p, 0, 1)))
		if widest < norm*(1-1e-6) {
			t.Errorf("%+v: the farthest points are %v of a norm of %v", c, widest, norm)
		}
		const n = 24
		var points [][6]int64
		for i := range n + 1 {
			for j := range n + 1 - i {
				points = append(points, pointOf(t, p, float64(i)/n, float64(j)/n))
			}
		}
		for i, a := range points {
			for _, b := range points[i:] {
				if far(a, b) > norm {
					t.Fatalf("%+v: %v and %v are beyond the norm", c, a, b)
				}
			}
		}
		rapid.Check(t, func(r *rapid.T) {
			unit := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-8), rapid.Float64Range(1-1e-8, 1+1e-8), rapid.SampledFrom([]float64{0, 0.5, 1}))
			point := func(name string) [6]int64 {
				sum, share := unit.Draw(r, name+" sum"), unit.Draw(r, name+" share")
				return pointOf(t, p, sum*share, sum*(1-share))
			}
			if a, b := point("a"), point("b"); far(a, b) > norm {
				r.Fatalf("%v: %v and %v are beyond the norm", adjacency, a, b)
			}
		})
	}
}

// TestLaplaceNoiseOfAnyScaleHasAGrid: whatever multiplier Gaussian noise has a grid for, Laplace noise has one, on which
// the event has that multiplier and the sampler its bound; one that leaves no resolution is refused.
func TestLaplaceNoiseOfAnyScaleHasAGrid(t *testing.T) {
	type sum interface{ Event() dp.Event }
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for name, form := range map[string]func(multiplier float64) (sum, error){
			"upper":    func(m float64) (sum, error) { return NewLaplacePair(3, m, adjacency, true) },
			"squares":  func(m float64) (sum, error) { return NewLaplacePair(3, m, adjacency, false) },
			"together": func(m float64) (sum, error) { return NewLaplacePairs([]float64{2, 5, 1}, m, adjacency) },
			"moments":  func(m float64) (sum, error) { return NewLaplaceMoments(-1, 2, m, adjacency) },
		} {
			for m := 0.1; m < 1e6; m *= 1.03 {
				s, err := form(m)
				if err != nil {
					t.Errorf("%s, %v, multiplier %v: %v", name, adjacency, m, err)
					break
				}
				if e := s.Event().(dp.DiscreteLaplace); !(e.Scale >= m*e.Norm && e.Scale <= m*e.Norm*(1+1e-14)) || e.Scale > 1<<39 {
					t.Errorf("%s, %v, multiplier %v: %+v", name, adjacency, m, e)
				}
			}
			if _, err := form(1e12); !errors.Is(err, ErrParameter) {
				t.Errorf("%s, %v: no resolution is left, and the error is %v", name, adjacency, err)
			}
		}
	}
}

// TestLaplacePairIsUnbiased: the sums at five standard errors, squares themselves or as their upper limits.
func TestLaplacePairIsUnbiased(t *testing.T) {
	const draws = 1000
	persons := [][2]float64{{1, 0}, {0, 1}, {0.25, 0.5}, {0.5, 0.5}, {0, 0}}
	for _, c := range laplacePairs {
		adjacency, want := c.adjacency, [6]float64{5, 1.75, 2, 1.3125, 0.375, 1.5}
		if c.upper {
			want[3], want[5] = 1.75-0.375, 2-0.375
		}
		src := noise.NewSeeded(4)
		var sums, squares [6]float64
		var sd PairSD
		for range draws {
			p, err := NewLaplacePair(1, 1, adjacency, c.upper)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range persons {
				if err := p.Add(c[0], c[1]); err != nil {
					t.Fatal(err)
				}
			}
			out, event, err := p.Release(src)
			if _, pure := event.(dp.DiscreteLaplace); err != nil || !pure {
				t.Fatalf("%v, %T", err, event)
			}
			sd = out.SD
			for i, v := range [6]float64{out.Count, out.X, out.Z, out.XX, out.XZ, out.ZZ} {
				sums[i] += v / draws
				squares[i] += v * v / draws
			}
		}
		for i, stated := range []float64{sd.Count, sd.Sum, sd.Sum, sd.Square, sd.Product, sd.Square} {
			found := math.Sqrt(max(squares[i]-sums[i]*sums[i], 0))
			// The fourth moment of a Laplace law is 6 times its variance squared.
			if math.Abs(sums[i]-want[i]) > 5*found/math.Sqrt(draws)+1e-6 || math.Abs(found-stated) > 5*stated*math.Sqrt(5.0/4/draws)+1e-5 {
				t.Errorf("%v: number %d is %v with noise of %v; want %v and %v", adjacency, i, sums[i], found, want[i], stated)
			}
		}
	}
	if _, err := NewLaplacePair(1, 1e30, dp.ReplaceOne, true); err == nil {
		t.Error("noise that no sampler makes is planned")
	}
}

// TestAuditsDoNotBreakALaplacePair bounds epsilon from below on two corners, or on a corner and nobody, by what noisy sums say of which it was:
// the bound stays under the claim, and is above it with 0.4 of the noise.
func TestAuditsDoNotBreakALaplacePair(t *testing.T) {
	const runs, delta = 4000, 1e-6
	for _, c := range laplacePairs[2:] {
		multiplier := c.adjacency.SumSensitivity(1)
		p, err := NewLaplacePair(2, multiplier, c.adjacency, c.upper)
		if err != nil {
			t.Fatal(err)
		}
		claim, err := audit.NewClaim(p.Event(), c.adjacency, delta)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []float64{1, 0.4} {
			src := noise.NewSeeded(11)
			found, err := audit.DrawNumbers(runs, func(world int) float64 {
				p, err := NewLaplacePair(2, multiplier*part, c.adjacency, c.upper)
				if err != nil {
					t.Fatal(err)
				}
				apart, together, count := -1.0, 0.0, 0.0
				if c.adjacency == dp.AddRemoveOne {
					apart, together, count = 0, 1, p.shape.count
				}
				if world == 1 {
					err = p.Add(500, 0)
				} else if c.adjacency == dp.ReplaceOne {
					err = p.Add(0, 500)
				}
				if err != nil {
					t.Fatal(err)
				}
				out, _, err := p.Release(src)
				if err != nil {
					t.Fatal(err)
				}
				return min(max((out.X-out.Z)/2, apart), 1) + min(max((out.X+out.Z)/2, 0), together) + min(max(out.Count*p.shape.count, 0), count)
			}).Bound(audit.Options{Delta: delta})
			if err != nil {
				t.Fatal(err)
			}
			if honest := part == 1; honest != (found.Epsilon <= claim.Epsilon) || honest && found.Epsilon < 0.35*claim.Epsilon {
				t.Errorf("%+v, %v of the noise: epsilon at least %.3f, where %.3f is claimed", c, part, found.Epsilon, claim.Epsilon)
			}
		}
	}
}
