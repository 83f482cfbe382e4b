package scalar

import (
	"math"
	"testing"
)

// TestLater holds the three ways against the sum itself, forwards.
func TestLater(t *testing.T) {
	for _, decisions := range []float64{1, 2, 1000, 1001, 30000} {
		for _, gamma := range []float64{1, 1 - 1e-12, 1 - 1e-6, 1 - 3.3e-6, 1 - 3.4e-6, 0.9999, 0.99, 0.5, 0} {
			want, discount := 0.0, 1.0
			for k := range int(decisions) {
				want += discount * float64(k+1)
				discount *= gamma
			}
			if got := Later(decisions, gamma); math.Abs(got-want) > 1e-10*want {
				t.Errorf("%v decisions, gamma %v: %v; want %v", decisions, gamma, got, want)
			}
		}
	}
	if got := Later(1e15, 0.75); got != 16 {
		t.Errorf("without an end: %v", got)
	}
}
