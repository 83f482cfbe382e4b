package xmath

import (
	"math"
	"testing"
)

// TestComplementsAreThoseOfOne, bit for bit, below, across and above the limit of the series.
func TestComplementsAreThoseOfOne(t *testing.T) {
	for low := -0.5; low < 50; low = 1.1*low + 0.13 {
		for _, step := range []float64{0, 1e-9, 0.02, 0.3} {
			var x, got [2 * len(legendreNodes)]float64
			for i := range x {
				x[i] = low + float64(i)*step
			}
			millsComplements(&got, &x)
			for i := range x {
				if want := MillsComplement(x[i]); math.Float64bits(got[i]) != math.Float64bits(want) {
					t.Errorf("of %v: %v; want %v", x[i], got[i], want)
				}
			}
		}
	}
}
