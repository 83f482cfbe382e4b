package feature_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/rl/feature"
)

// What one goroutine remembers changes no bit, whether observations come again or not.
func TestFeaturesThatAreRememberedAreThoseComputed(t *testing.T) {
	names := []string{"a", "b"}
	basis := must(feature.NewFourier(3, names, []feature.Range{{Low: 0, High: 1}, {Low: -1, High: 1}}))
	plain := must(basis.Bind(names))
	r := rand.New(rand.NewPCG(3, 1))
	for _, values := range []int{2, 90, 1 << 40} {
		alone := plain.(interface{ Alone() feature.Bound }).Alone()
		for range 1 << 16 {
			obs := []float64{float64(r.Int64N(int64(values))) / float64(values), float64(r.Int64N(int64(values)))/float64(values) - 0.5}
			if r.IntN(50) == 0 {
				obs[r.IntN(2)] = []float64{math.NaN(), math.Inf(1), math.Copysign(0, -1)}[r.IntN(3)]
			}
			want, got := make([]float64, basis.Dim()), make([]float64, basis.Dim())
			if a, b := plain.Apply(want, obs), alone.Apply(got, obs); a != b {
				t.Fatalf("%v: %v and %v", obs, a, b)
			}
			for i := range want {
				if math.Float64bits(want[i]) != math.Float64bits(got[i]) {
					t.Fatalf("%v: feature %d is %v, and %v when it is remembered", obs, i, want[i], got[i])
				}
			}
		}
	}
}
