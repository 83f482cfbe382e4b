package mechanism

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// TestRunningSums: under little noise cells are what persons added, in series or not; the noise of
// the sum of a series is less than that of as many cells with noise of their own, whatever adjacency is.
func TestRunningSums(t *testing.T) {
	series := [][]int{{0, 2, 4, 6}, {7, 5, 3, 1}}
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		s, err := NewRunningSums(9, series, 2, 1e-6, adjacency, Exact)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, 9)
		for person := range 30 {
			a, b := 2*(person%4), 1+2*(person*3%4) // in two series
			if err := s.AddShares([]int{a, b, 8}, []float64{1, 0.25, 1}); err != nil {
				t.Fatal(err)
			}
			want[a], want[b] = want[a]+1, want[b]+0.25
		}
		cells, event, err := s.Release(noise.NewSeeded(1))
		if err != nil || event != (dp.Gaussian{NoiseMultiplier: 1e-6}) {
			t.Fatalf("%v, %v", event, err)
		}
		for i, v := range cells {
			if math.Abs(v-want[i]) > 1e-3 {
				t.Errorf("%v: cells %v; want %v", adjacency, cells, want)
				break
			}
		}
	}
	const runs, n = 4000, 16
	var all []int
	for i := range n {
		all = append(all, i)
	}
	src, sum := noise.NewSeeded(2), 0.0
	var sd float64
	for range runs {
		s, err := NewRunningSums(n, [][]int{all}, 1, 1, dp.AddRemoveOne, Fast)
		if err != nil {
			t.Fatal(err)
		}
		cells, _, err := s.Release(src)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, v := range cells {
			total += v
		}
		sum, sd = sum+total*total, s.SD()
	}
	// A running sum of all is the root taken twice: its variance is that of the roots, times the sum of
	// the squared coefficients; with noise of their own 16 cells had variance 16.
	want := 0.0
	for i, f := 0, 1.0; i < n; i++ {
		want += f * f * sd * sd
		f *= float64(2*i+1) / float64(2*i+2)
	}
	if got := sum / runs; math.Abs(got-want) > 5*want*math.Sqrt(2.0/runs) || want > n/3 {
		t.Errorf("the sum of %d cells has variance %v; want %v, below %v", n, got, want, n/3)
	}
	if _, err := NewRunningSums(3, [][]int{{0, 1}, {1, 2}}, 1, 1, dp.ReplaceOne, Exact); err == nil {
		t.Error("a cell stands in two series")
	}
}

// TestRunningSumsDiameter: no two persons, rounded, are farther apart than the noise is paid for.
func TestRunningSumsDiameter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, most := rapid.IntRange(1, 9).Draw(t, "cells"), rapid.IntRange(1, 3).Draw(t, "most")
		var series [][]int
		for at := 0; at < n; {
			long := min(rapid.IntRange(1, 4).Draw(t, "long"), n-at)
			var cells []int
			for i := range long {
				cells = append(cells, at+i)
			}
			series, at = append(series, cells), at+long
		}
		s, err := NewRunningSums(n, series, most, 1, dp.ReplaceOne, Exact)
		if err != nil {
			t.Fatal(err)
		}
		person := func(name string) []int64 {
			k := rapid.IntRange(0, 4).Draw(t, name)
			cells := rapid.SliceOfN(rapid.IntRange(-1, n), k, k).Draw(t, name+" cells")
			shares := rapid.SliceOfN(rapid.OneOf(rapid.Just(1.0), rapid.Float64Range(-1, 3), rapid.Just(math.NaN())), k, k).Draw(t, name+" shares")
			if err := s.AddShares(cells, shares); err != nil {
				t.Fatal(err)
			}
			return append([]int64(nil), s.point...)
		}
		square := 0.0
		a, b := person("a"), person("b")
		for i := range a {
			d := float64(a[i]-b[i]) * s.total.grid.step
			square += d * d
		}
		// Half the diameter is what the event's noise is a multiple of, which is 1 here.
		if math.Sqrt(square) > 2*s.SD() {
			t.Fatalf("%v and %v are %v apart; noise is paid for %v", a, b, math.Sqrt(square), 2*s.SD())
		}
	})
}
