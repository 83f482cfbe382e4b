package mechanism

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// placeOf is where a person stands.
func placeOf(t interface{ Fatal(...any) }, m *Masses, masses, squares []float64) []*big.Int {
	if err := m.Add(masses, squares); err != nil {
		t.Fatal(err)
	}
	out := make([]*big.Int, len(m.point))
	for i, k := range m.point {
		out[i] = big.NewInt(k)
	}
	return out
}

// gap is |a - b|^2, exactly; of nil b |a|^2.
func gap(a, b []*big.Int) *big.Int {
	sum := new(big.Int)
	for i := range a {
		d := new(big.Int).Set(a[i])
		if b != nil {
			d.Sub(d, b[i])
		}
		sum.Add(sum, d.Mul(d, d))
	}
	return sum
}

// TestMassesDiameter: no two persons, whatever numbers they bring, are farther apart than the
// noise is made for, nor is one longer; the corners of two bins nearly are. Everybody adds the
// same in all.
func TestMassesDiameter(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(0, 4), rapid.SampledFrom([]float64{0, 3, 1e-9, 1e300, -1, math.Inf(1), math.NaN()}))
	rapid.Check(t, func(r *rapid.T) {
		bins := rapid.IntRange(1, 6).Draw(r, "bins")
		squares := rapid.SampledFrom([]float64{0, 0.25, 0.5, 1}).Draw(r, "squares")
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			m, err := NewMasses(bins, 3, squares, 1, adjacency, Exact)
			if err != nil {
				r.Fatal(err)
			}
			// The standard deviation at multiplier 1 is what the multiplier is relative to.
			within := new(big.Float).SetFloat64(m.total.grid.sigma)
			within.Mul(within, within)
			person := func() []*big.Int {
				return placeOf(r, m, rapid.SliceOfN(number, bins, bins).Draw(r, "masses"), rapid.SliceOfN(number, bins, bins).Draw(r, "squares"))
			}
			a, b := person(), person()
			if adjacency == dp.ReplaceOne { // half the diameter
				if d := new(big.Float).SetInt(gap(a, b)); d.Cmp(new(big.Float).Mul(within, big.NewFloat(4))) > 0 {
					r.Fatalf("two persons are %v apart; half of the noise is made for %v", d, within)
				}
			} else if d := new(big.Float).SetInt(gap(a, nil)); d.Cmp(within) > 0 {
				r.Fatalf("a person is %v long; the noise is made for %v", d, within)
			}
			for _, of := range [][]*big.Int{a, b} {
				sum := new(big.Int)
				for _, k := range of[:bins+1] {
					if k.Sign() < 0 {
						r.Fatalf("a mass is %v", k)
					}
					sum.Add(sum, k)
				}
				if sum.Cmp(big.NewInt(int64(m.radius()))) != 0 {
					r.Fatalf("a person adds %v in all; want %v", sum, int64(m.radius()))
				}
			}
		}
	})
	m, err := NewMasses(4, 3, 0.5, 1, dp.ReplaceOne, Exact)
	if err != nil {
		t.Fatal(err)
	}
	d, _ := new(big.Float).SetInt(gap(placeOf(t, m, []float64{3, 0, 0, 0}, []float64{9, 0, 0, 0}), placeOf(t, m, []float64{0, 0, 3, 0}, []float64{0, 0, 9, 0}))).Float64()
	if got := math.Sqrt(d) / 2 / m.total.grid.sigma; got < 1-1e-6 {
		t.Errorf("two corners are %v of what the noise is made for", got)
	}
}

// TestMassesAreUnbiasedAndSayTheirNoise at five standard errors.
func TestMassesAreUnbiasedAndSayTheirNoise(t *testing.T) {
	const draws = 4000
	src := noise.NewSeeded(4)
	var sums, spread [7]float64
	want := [7]float64{2, 1.5, 0, 4 - 3.5, 4, 1.5, 0} // two persons, most 2
	var sd [7]float64
	for range draws {
		m, err := NewMasses(3, 2, 0.5, 1.5, dp.ReplaceOne, Exact)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range [][2][]float64{{{2, 0, 0}, {4, 0, 0}}, {{0, 1.5, 0}, {0, 1.5, 0}}} {
			if err := m.Add(p[0], p[1]); err != nil {
				t.Fatal(err)
			}
		}
		mass, square := m.SD()
		sd = [7]float64{mass, mass, mass, mass, square, square, square}
		out, _, err := m.Release(src)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range append(append(append([]float64{}, out.In...), out.Back), out.Squares...) {
			sums[i] += v / draws
			spread[i] += (v - want[i]) * (v - want[i]) / draws
		}
	}
	for i := range want {
		if math.Abs(sums[i]-want[i]) > 5*sd[i]/math.Sqrt(draws) {
			t.Errorf("coordinate %d is %v on average; want %v", i, sums[i], want[i])
		}
		if got := math.Sqrt(spread[i]); math.Abs(got/sd[i]-1) > 5/math.Sqrt(2*draws) {
			t.Errorf("coordinate %d has noise of %v; it says %v", i, got, sd[i])
		}
	}
}

// TestMassesMerge: halves add up to the whole, and others do not mix.
func TestMassesMerge(t *testing.T) {
	make := func(most float64) *Masses {
		m, err := NewMasses(2, most, 0, 1, dp.AddRemoveOne, Exact)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, b, all := make(1), make(1), make(1)
	for i, m := range []*Masses{a, b} {
		masses := []float64{float64(i), 1 - float64(i)}
		if err := m.Add(masses, nil); err != nil {
			t.Fatal(err)
		}
		if err := all.Add(masses, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Merge(make(2)); err == nil {
		t.Error("masses of another cap were merged")
	}
	if err := a.Merge(b); err != nil {
		t.Fatal(err)
	}
	for i, k := range all.total.sum {
		if a.total.sum[i] != k {
			t.Errorf("coordinate %d is %d; want %d", i, a.total.sum[i], k)
		}
	}
}

// TestLaplaceMassesAddToTheirNorm: everybody adds exactly the norm of the event in l1, whatever they
// are like, so that no two differ by more than twice that; and noise is as it is said to be.
func TestLaplaceMassesAddToTheirNorm(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		m, err := NewLaplaceMasses(3, 1, 2, adjacency)
		if err != nil {
			t.Fatal(err)
		}
		norm := m.Event().(dp.DiscreteLaplace).Norm
		rapid.Check(t, func(r *rapid.T) {
			x := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-1, 2), rapid.SampledFrom([]float64{0, 1, math.Inf(1), math.NaN()})), 3, 3).Draw(r, "masses")
			if err := m.Add(x, make([]float64, 3)); err != nil {
				r.Fatal(err)
			}
			sum := 0.0
			for _, k := range m.point {
				if k < 0 {
					r.Fatalf("%v has a coordinate below 0: %v", x, m.point)
				}
				sum += float64(k)
			}
			if sum != norm {
				r.Fatalf("%v adds %v in all; want %v", x, sum, norm)
			}
		})
		const draws = 1000
		src, square := noise.NewSeeded(8), 0.0
		var sd float64
		for range draws {
			empty, _ := NewLaplaceMasses(3, 1, 2, adjacency)
			out, _, err := empty.Release(src)
			if err != nil {
				t.Fatal(err)
			}
			sd, _ = empty.SD()
			for _, x := range out.In {
				square += x * x / (3 * draws)
			}
		}
		// Five standard errors: the fourth moment of a Laplace law is 6 times its variance squared.
		if math.Abs(sd-2*math.Sqrt2) > 1e-6 || math.Abs(square/(sd*sd)-1) > 5*math.Sqrt(5.0/(3*draws)) {
			t.Errorf("%v: noise of %v; it is said to be %v, want %v", adjacency, math.Sqrt(square), sd, 2*math.Sqrt2)
		}
	}
}
