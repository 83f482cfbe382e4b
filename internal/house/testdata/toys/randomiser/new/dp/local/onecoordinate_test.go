package local

import (
	"math"
	"testing"
)

// Between any two vectors a report differs by no more than epsilon, and its mean is the
// clipped vector: both by the exact law of the code.
func TestOneCoordinateIsPrivateAndUnbiased(t *testing.T) {
	r, err := NewOneCoordinate(2, 1, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	var laws []map[string]float64
	for _, x := range [][]float64{{1, 1}, {-1, -1}, {.25, -3}, {0, math.NaN()}} {
		l := law(func(c coins) []byte { return r.randomize(nil, x, c) })
		laws = append(laws, l)
		want := []float64{max(-1, min(1, x[0])), max(-1, min(1, x[1]))}
		if x[1] != x[1] {
			want = []float64{0, 0}
		}
		if got := mean(t, r, l); !near(got, want, 1e-9) {
			t.Errorf("the mean of reports on %v is %v; want %v", x, got, want)
		}
	}
	checkLaws(t, "one coordinate", laws, 1.5, 1-1e-9)
}
