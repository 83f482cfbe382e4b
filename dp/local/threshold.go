package local

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// lieThreshold returns an integer L for which telling the truth with probability
// 1 - L/2^64 keeps the odds of the truth, (2^64-L)/L, at or below weight e^epsilon.
// L is at least 1, so the odds never pass 2^64. Each rounding lowers the odds;
// math.Exp is given 4 ulps, several times its documented error.
func lieThreshold(epsilon, weight float64) uint64 {
	odds := xmath.MulDown(xmath.Down(math.Exp(epsilon), 4), weight)
	lie := xmath.DivUp(1, xmath.AddDown(1, odds))
	return uint64(math.Ceil(math.Ldexp(lie, 64))) // below 2^64: odds > 0 is not tiny
}

// lieProbability is threshold/2^64 to the nearest float64.
func lieProbability(threshold uint64) float64 { return math.Ldexp(float64(threshold), -64) }
