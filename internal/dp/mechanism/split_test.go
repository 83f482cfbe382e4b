package mechanism

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

func newSplit(t interface{ Fatal(...any) }, multiplier float64, adjacency dp.Adjacency) *Split {
	s, err := NewSplit(multiplier, adjacency, Exact)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSplitDiameter: no two persons, whatever numbers they bring, are farther apart than the noise
// is made for, none is longer, and all point in directions no more than a right angle apart. All
// parts add up to the same.
func TestSplitDiameter(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.5, 1, 2, 1e-9, 1e300, -1, math.Inf(1), math.NaN()}))
	rapid.Check(t, func(r *rapid.T) {
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			s := newSplit(r, 1, adjacency)
			within := new(big.Float).SetFloat64(s.total.grid.sigma)
			within.Mul(within, within)
			var persons [2][]*big.Int
			for i := range persons {
				if err := s.Add(number.Draw(r, "x"), number.Draw(r, "z")); err != nil {
					r.Fatal(err)
				}
				sum := int64(0)
				for j, k := range s.point {
					if k < 0 {
						r.Fatalf("coordinate %d is %d", j, k)
					}
					if j < 3 {
						sum += k
					}
					persons[i] = append(persons[i], big.NewInt(k))
				}
				if sum != int64(s.total.grid.radius) {
					r.Fatalf("the parts add up to %d; want %d", sum, s.total.grid.radius)
				}
			}
			got := new(big.Float).SetInt(gap(persons[0], nil))
			if adjacency == dp.ReplaceOne { // half the diameter
				got = new(big.Float).SetInt(gap(persons[0], persons[1]))
				got.Quo(got, big.NewFloat(4))
			}
			if got.Cmp(within) > 0 {
				r.Fatalf("%v, and the noise is made for %v", got, within)
			}
		}
	})
}

// TestSplitIsUnbiasedAndSaysItsNoise at five standard errors.
func TestSplitIsUnbiasedAndSaysItsNoise(t *testing.T) {
	const draws = 4000
	src := noise.NewSeeded(4)
	var sums, spread [4]float64
	want := [4]float64{1.25, 0.5, 1.25, 0.125}
	part, product := newSplit(t, 1.5, dp.ReplaceOne).SD()
	sd := [4]float64{part, part, part, product}
	for range draws {
		s := newSplit(t, 1.5, dp.ReplaceOne)
		for _, p := range [][2]float64{{0.25, 0.5}, {1, 0}, {0, 0}} {
			if err := s.Add(p[0], p[1]); err != nil {
				t.Fatal(err)
			}
		}
		out, _, err := s.Release(src)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range []float64{out.X, out.Z, out.Rest, out.Product} {
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

// TestSplitMerge: halves add up to the whole, and others do not mix.
func TestSplitMerge(t *testing.T) {
	a, b := newSplit(t, 1, dp.AddRemoveOne), newSplit(t, 1, dp.AddRemoveOne)
	all := newSplit(t, 1, dp.AddRemoveOne)
	for i, s := range []*Split{a, b} {
		for _, of := range []*Split{s, all} {
			if err := of.Add(0.25*float64(i+1), 0.5); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := a.Merge(newSplit(t, 1, dp.ReplaceOne)); err == nil {
		t.Error("a sum of another adjacency was merged")
	}
	if err := a.Merge(b); err != nil {
		t.Fatal(err)
	}
	got, _, err := a.Release(noise.NewSeeded(1))
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := all.Release(noise.NewSeeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("halves give %v, and the whole %v", got, want)
	}
}
