package overview

import (
	"math"
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestSumsAreExact: a sum is that of arithmetic without rounding, to 2^-50 of it, and numbers that
// are added in parts and in another order make the same one.
func TestSumsAreExact(t *testing.T) {
	const largest = largestWeight * largestWeight
	edges := []float64{0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-1023, 1, 1 - 0x1p-53, largestWeight, largest}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.SampledFrom(edges), rapid.Float64Range(0, largest), rapid.Float64Range(0, 4))
		numbers := rapid.SliceOfN(number, 0, 40).Draw(t, "numbers")
		times := 1 + rapid.IntRange(0, 1).Draw(t, "times")*5000
		want := new(big.Float).SetPrec(4000)
		var whole exactSum
		parts := make([]exactSum, 3)
		for i, v := range numbers {
			for range times {
				whole.add(v)
				parts[i%3].add(v)
				want.Add(want, big.NewFloat(v))
			}
		}
		exact, _ := want.Float64()
		if got := whole.value(); math.Abs(got-exact) > exact*0x1p-50+math.SmallestNonzeroFloat64 {
			t.Fatalf("the sum is %v, not %v", got, exact)
		}
		var joined exactSum
		for _, i := range []int{2, 0, 1} {
			joined.merge(&parts[i])
		}
		if !reflect.DeepEqual(joined, whole) {
			t.Fatalf("in parts %v, at once %v", joined, whole)
		}
	})
}
