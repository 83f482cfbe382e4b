package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// drawnArm is an arm of n persons, of whom a share has outcome 1, with noise drawn.
func drawnArm(rng *rand.Rand, n int, mean, sd float64) Arm {
	x := 0.0
	for range n {
		if rng.Float64() < mean {
			x++
		}
	}
	return Arm{Sums: mechanism.NoisySplit{X: x + sd*rng.NormFloat64(), Z: float64(n) - x + sd*rng.NormFloat64(), Rest: sd * rng.NormFloat64(), Product: sd / 2.8 * rng.NormFloat64()}}
}

// Ends of means and of differences each fail with 2.5% where noise is most of the error, in the middle and near
// the ends, with arms of very different sizes; of 4000 more than 128 do with probability 1e-3 at that rate.
func TestEndsFailAsSeldomAsTheySay(t *testing.T) {
	const draws, most = 4000, 128
	rng := rand.New(rand.NewPCG(1, 2))
	for _, whole := range []bool{false, true} {
		for _, mean := range []float64{0.03, 0.5, 0.9} {
			for _, sizes := range [][2]int{{60, 60}, {400, 40}, {1000, 1000}} {
				q := Reading{SD: 12, ProductSD: 12 / 2.8, Whole: whole, Z: xmath.NormQuantile(0.975), Unseen: 3}
				var fails [4]int
				for range draws {
					a, b := q.Level(drawnArm(rng, sizes[0], mean, q.SD)), q.Level(drawnArm(rng, sizes[1], mean, q.SD))
					low, high := a.Interval()
					d := q.Difference(a, b)
					for k, failed := range []bool{low > mean, high < mean, d.Lower > 0, d.Upper < 0} {
						if failed {
							fails[k]++
						}
					}
				}
				for k, n := range fails {
					if n > most {
						t.Errorf("whole %v, mean %v, sizes %v: end %d fails in %d of %d", whole, mean, sizes, k, n, draws)
					}
				}
			}
		}
	}
}

// Margins of independent arms add up by squares: as arm and control have the same margin, that of their
// difference is sqrt 2 of it, and never below that of either.
func TestMarginsAddUpBySquares(t *testing.T) {
	q := Reading{SD: 5, ProductSD: 2, Whole: true, Z: 2, Unseen: 3}
	a := q.Level(Arm{Sums: mechanism.NoisySplit{X: 500, Z: 500}})
	b := q.Level(Arm{Sums: mechanism.NoisySplit{X: 50, Z: 50}})
	same, d := q.Difference(a, a), q.Difference(a, b)
	if want := math.Sqrt2 * a.Low.Margin; math.Abs(-same.Lower-want) > 1e-12 || math.Abs(same.Upper-want) > 1e-12 {
		t.Errorf("%v; want %v to either side", same, want)
	}
	if want := math.Hypot(a.Low.Margin, b.High.Margin); math.Abs(-d.Lower-want) > 1e-12 {
		t.Errorf("%v; want %v", d, want)
	}
}

// Lifts hold wherever both means and their difference lie within their intervals, and do not
// exclude more than the ends do.
func TestLiftsFollowFromIntervals(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		around := func(x float64) Interval {
			return Interval{x + rapid.Float64Range(-1, 1).Draw(r, "off"), x - rapid.Float64Range(0, 2).Draw(r, "below"), x + rapid.Float64Range(0, 2).Draw(r, "above")}
		}
		a, c := rapid.Float64Range(0, 5).Draw(r, "arm"), rapid.Float64Range(0.01, 5).Draw(r, "control")
		arm, control, d := around(a), around(c), around(a-c)
		arm.Lower, control.Lower = max(arm.Lower, 0), max(control.Lower, 0)
		if l := Lift(arm, control, d); l.Lower > a/c-1+1e-9 || l.Upper < a/c-1-1e-9 || l.Lower < -1 {
			r.Fatalf("%v, %v, %v: lift %v is not within %v", arm, control, d, a/c-1, l)
		}
	})
	if l := Lift(Interval{2, 1, 3}, Interval{1, 0, 2}, Interval{1, 0.5, 1.5}); !math.IsInf(l.Upper, 1) || math.Abs(l.Lower-0.25) > 1e-12 {
		t.Errorf("%v; want from a quarter without limit", l)
	}
}

// The chance of counts is uniform where the allocation is right, whatever the noise; Pearson's without.
func TestChanceIsUniformWhereTheAllocationIsRight(t *testing.T) {
	const draws = 4000
	rng, shares := rand.New(rand.NewPCG(3, 4)), []float64{0.7, 0.2, 0.1}
	for _, sd := range []float64{0, 20} {
		below := 0
		for range draws {
			counts := make([]float64, 3)
			for range 900 {
				u := rng.Float64()
				switch {
				case u < 0.7:
					counts[0]++
				case u < 0.9:
					counts[1]++
				default:
					counts[2]++
				}
			}
			for i := range counts {
				counts[i] += sd * rng.NormFloat64()
			}
			if Chance(counts, sd, shares) < 0.05 {
				below++
			}
		}
		if share := float64(below) / draws; math.Abs(share-0.05) > 5*math.Sqrt(0.05*0.95/draws) {
			t.Errorf("noise %v: p-values below .05 in %v", sd, share)
		}
	}
	// (60-50)^2/50 + (40-50)^2/50 = 4 with one degree of freedom.
	if got, want := Chance([]float64{60, 40}, 0, []float64{0.5, 0.5}), math.Erfc(2/math.Sqrt2); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v; want %v", got, want)
	}
}

// The slope is that of least squares where noise costs nothing, less where it does, and none where it
// costs more than it saves. An adjusted outcome stays within its range, and means move by the slope alone.
func TestAdjustments(t *testing.T) {
	m := Moments{Count: 1000, C: 400, Y: 300, CC: 200, CY: 150} // covariance .03, variance .04
	if a := m.Adjustment(0, 0, 0); math.Abs(a.Slope-0.75) > 1e-12 || math.Abs(a.Centre-0.4) > 1e-12 {
		t.Errorf("%v; want least squares", a)
	}
	if a := m.Adjustment(0, 0.005, 0.005); !(a.Slope > 0 && a.Slope < 0.75) {
		t.Errorf("%v at a price", a)
	}
	if a := m.Adjustment(0, 0.01, 0.0001); a.Slope != 0 {
		t.Errorf("%v where it costs more than it saves", a)
	}
	if a := m.Adjustment(200, 0, 0); a.Slope != 0 {
		t.Errorf("%v of moments that are noise", a)
	}
	v := make([]float64, Coordinates)
	m.Add(v)
	if got := MomentsOf(v); math.Abs(got.CY-m.CY) > 1e-9 {
		t.Errorf("%v; want %v", got, m)
	}
	rapid.Check(t, func(r *rapid.T) {
		a := Adjustment{rapid.Float64Range(-4, 4).Draw(r, "slope"), rapid.Float64Range(0, 1).Draw(r, "centre")}
		y, c := rapid.Float64Range(0, 1).Draw(r, "y"), rapid.Float64Range(0, 1).Draw(r, "c")
		x, z := a.Apply(y, 1-y, c, 1)
		if x < -1e-12 || z < -1e-12 || math.Abs(x+z-1) > 1e-12 {
			r.Fatalf("%v of %v, %v: %v, %v", a, y, c, x, z)
		}
		zero, _ := a.Apply(0, 1, a.Centre, 1)
		if got, want := (x-zero)*a.Width(), y-a.Slope*(c-a.Centre); math.Abs(got-want) > 1e-9 {
			r.Fatalf("%v; want %v", got, want)
		}
		if x, z := a.Apply(0, 0, c, 0); x != 0 || z != 0 {
			r.Fatalf("a person without a row adds %v, %v", x, z)
		}
	})
	// No coordinate is negative, and a person is no longer than 1.
	Moments{1, 1, 1, 1, 1}.Add(v)
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the longest is %v", sum)
	}
}
