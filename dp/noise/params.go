package noise

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/fault"
)

// ErrParameter marks a standard deviation or scale outside its range.
var ErrParameter = fault.Input("invalid noise parameter")

// The range of standard deviations and scales, in lattice steps.
const (
	minScale = 1e-3
	maxScale = 1 << 40
)

// checkScale refuses a parameter outside [minScale, maxScale].
func checkScale(name string, x float64) error {
	if !(x >= minScale && x <= maxScale) {
		return fmt.Errorf("%w: %s is %v lattice steps; want between %v and 2^40: choose another lattice step", ErrParameter, name, x, minScale)
	}
	return nil
}

// dyadic splits x into the integer m and the exponent e with x = m 2^e exactly
// and 2^52 <= m < 2^53.
func dyadic(x float64) (m uint64, e int) {
	fraction, e := math.Frexp(x)
	return uint64(math.Ldexp(fraction, 53)), e - 53
}

// stripPoints returns the log2 of the number of integers in a strip: the largest
// power of two below x / 2^ratio, and at least 1.
func stripPoints(x float64, ratio int) uint {
	fraction, e := math.Frexp(x)
	e -= ratio + 1
	if fraction == 0.5 {
		e--
	}
	return uint(max(e, 0))
}
