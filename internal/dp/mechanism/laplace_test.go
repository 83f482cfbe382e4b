package mechanism

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// TestLaplaceHistogram: counts are exact beneath noise of the stated variance and mean 0, the
// event is that of the scale, shards add up, and unlike sums do not merge.
func TestLaplaceHistogram(t *testing.T) {
	const scale, runs = 2.0, 4000
	src := noise.NewSeeded(1)
	q := math.Exp(-1 / scale)
	variance := 2 * q / ((1 - q) * (1 - q))
	sum, squares := 0.0, 0.0
	for range runs {
		a, err := NewLaplaceHistogram(3, scale)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := NewLaplaceHistogram(3, scale)
		if err := errors.Join(a.Add(0), a.Add(2), b.Add(2), b.Add(-1), b.Add(3), a.Merge(b)); err != nil {
			t.Fatal(err)
		}
		noisy, event, err := a.Release(src)
		if err != nil {
			t.Fatal(err)
		}
		if event != (dp.DiscreteLaplace{Scale: scale, Norm: 1}) || math.Abs(a.SD()-math.Sqrt(variance)) > 1e-12 {
			t.Fatalf("event %+v, standard deviation %v; want scale %v and %v", event, a.SD(), scale, math.Sqrt(variance))
		}
		for i, want := range []float64{1, 0, 2} {
			x := noisy[i] - want
			if x != math.Trunc(x) {
				t.Fatalf("count %d is %v; want a whole number", i, noisy[i])
			}
			sum, squares = sum+x, squares+x*x
		}
	}
	// Five standard errors: the fourth moment of a Laplace law is 6 times its variance squared.
	n := 3.0 * runs
	if mean := sum / n; math.Abs(mean) > 5*math.Sqrt(variance/n) {
		t.Errorf("noise has mean %v", mean)
	}
	if got := squares / n; math.Abs(got-variance) > 5*variance*math.Sqrt(5/n) {
		t.Errorf("noise has variance %v; want %v", got, variance)
	}
	laplace, _ := NewLaplaceHistogram(2, 1)
	other, err := NewHistogram(2, 1, dp.AddRemoveOne, Exact)
	if err != nil {
		t.Fatal(err)
	}
	other.total.grid, other.multiplier = laplace.total.grid, laplace.multiplier
	if err := laplace.Merge(other); !errors.Is(err, ErrMismatch) {
		t.Errorf("a Laplace sum and a Gaussian one merge: %v", err)
	}
	for _, bad := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if _, err := NewLaplaceHistogram(2, bad); !errors.Is(err, ErrParameter) {
			t.Errorf("scale %v: %v; want ErrParameter", bad, err)
		}
	}
}

// What is made can be released, at both ends of what the sampler takes.
func TestLaplaceNoiseAtItsEnds(t *testing.T) {
	if _, err := NewLaplaceHistogram(1, 0x1.01p39); !errors.Is(err, ErrParameter) {
		t.Errorf("noise of 2^39 persons and more: %v", err)
	}
	draws := map[string]func() error{
		"histogram": func() error {
			h, err := NewLaplaceHistogram(2, 0x1p39)
			if err == nil {
				_, _, err = h.Release(noise.NewSeeded(1))
			}
			return err
		},
		"shares": func() error {
			h, err := NewLaplaceShares(2, 1, 1e-300)
			if err == nil {
				_, _, err = h.Release(noise.NewSeeded(1))
			}
			return err
		},
		"masses": func() error {
			m, err := NewLaplaceMasses(2, 1, 1e-300, dp.ReplaceOne)
			if err == nil {
				_, _, err = m.Release(noise.NewSeeded(1))
			}
			return err
		},
		"pair": func() error {
			p, err := NewLaplacePair(1, 1e-300, dp.ReplaceOne, true)
			if err == nil {
				_, _, err = p.Release(noise.NewSeeded(1))
			}
			return err
		},
	}
	for name, draw := range draws {
		if err := draw(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
