package band_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/band"
)

// The limits of a curve that never falls are made such that they do not either; values lie
// between them.
func Example() {
	b := band.Band{Values: []float64{0.2, 0.1, 0.6}, Lower: []float64{0.1, 0, 0.4}, Upper: []float64{0.3, 0.25, 0.8}}
	b.Rise()
	fmt.Println(b.Lower, b.Upper)
	// Output: [0.1 0.1 0.4] [0.25 0.25 0.8]
}

// One point of a curve needs what a single interval does, and points that say the same no more.
func ExampleCriticalValue() {
	fmt.Printf("%.3f %.3f\n", band.CriticalValue(nil, 0.05), band.CriticalValue([]float64{1, 1}, 0.05))
	// Output: 1.960 1.960
}
