package xmath

import (
	"math"
	"testing"
)

// Taken twice the one makes sums, the other differences, and one after the other nothing.
func TestRootSums(t *testing.T) {
	const n = 40
	product := func(a, b []float64, k int) (sum float64) {
		for i := range k + 1 {
			sum += a[i] * b[k-i]
		}
		return sum
	}
	sums, differences := RootSums(n), RootDifferences(n)
	for k := range n {
		want := [3]float64{1, []float64{1, -1, 0}[min(k, 2)], []float64{1, 0}[min(k, 1)]}
		for i, got := range []float64{product(sums, sums, k), product(differences, differences, k), product(sums, differences, k)} {
			if math.Abs(got-want[i]) > 1e-14 {
				t.Errorf("product %d, coefficient %d: %v; want %v", i, k, got, want[i])
			}
		}
	}
}
