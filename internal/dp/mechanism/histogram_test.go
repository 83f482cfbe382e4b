package mechanism

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// TestSetsStayWithinTheirNorm: whatever bins two persons name, often twice, too many of
// them or none that there is, they add points no farther apart, and no longer, than the
// noise is made for.
func TestSetsStayWithinTheirNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bins, most := rapid.IntRange(1, 6).Draw(t, "bins"), rapid.IntRange(1, 4).Draw(t, "most")
		draw := func(name string) []float64 {
			h, err := NewSetHistogram(bins, most, 2, dp.ReplaceOne, Exact)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.AddSet(rapid.SliceOfN(rapid.IntRange(-1, 6), 0, 8).Draw(t, name)); err != nil {
				t.Fatal(err)
			}
			var out []float64
			for _, k := range h.total.sum {
				out = append(out, float64(k)*h.total.grid.step)
			}
			return out
		}
		a, b := draw("one"), draw("other")
		distance, norm := 0.0, 0.0
		for i := range a {
			distance += (a[i] - b[i]) * (a[i] - b[i])
			norm += a[i] * a[i]
		}
		for adjacency, half := range map[dp.Adjacency]float64{dp.ReplaceOne: math.Sqrt(distance) / 2, dp.AddRemoveOne: math.Sqrt(norm)} {
			h, err := NewSetHistogram(bins, most, 2, adjacency, Exact)
			if err != nil {
				t.Fatal(err)
			}
			if h.SD() < 2*half {
				t.Errorf("%v: noise %v for a reach of %v at a multiplier of 2", adjacency, h.SD(), half)
			}
		}
	})
}

// TestHistogramsMerge: shards make the counts of the whole.
func TestHistogramsMerge(t *testing.T) {
	fill := func(from, to int) *Histogram {
		h, err := NewSetHistogram(5, 2, 1, dp.AddRemoveOne, Exact)
		if err != nil {
			t.Fatal(err)
		}
		for i := from; i < to; i++ {
			if err := h.AddSet([]int{i % 5, i % 3}); err != nil {
				t.Fatal(err)
			}
		}
		return h
	}
	whole, first := fill(0, 40), fill(0, 7)
	for _, shard := range []*Histogram{fill(7, 8), fill(8, 33), fill(33, 40)} {
		if err := first.Merge(shard); err != nil {
			t.Fatal(err)
		}
	}
	a, _, err := whole.Release(noise.NewSeeded(3))
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := first.Release(noise.NewSeeded(3))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a, b) {
		t.Errorf("whole %v, merged %v", a, b)
	}
	other, err := NewSetHistogram(5, 1, 1, dp.AddRemoveOne, Exact)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(0, 1).Merge(other); !errors.Is(err, ErrMismatch) {
		t.Errorf("histograms of another kind: %v", err)
	}
	if _, err := NewSetHistogram(5, 0, 1, dp.AddRemoveOne, Exact); !errors.Is(err, ErrParameter) {
		t.Errorf("no bin for anybody: %v", err)
	}
}
