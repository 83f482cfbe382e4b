package xmath

import "math"

const (
	sqrtHalfPi = 1.2533141373155002512 // sqrt(pi/2)
	// seriesLimit parts the power series from the continued fraction.
	seriesLimit = 1.0
)

// Mills returns the Mills ratio of the standard normal law,
// M(x) = (1 - Phi(x)) / phi(x) = integral over s >= 0 of exp(-x s - s^2/2).
// Relative error at most 8 ulp for x >= -1; below that it is the relative error
// of e^(x^2/2), and it overflows to +Inf for x < -37.6.
func Mills(x float64) float64 {
	switch {
	case x <= -seriesLimit:
		h, l := halfSquare(x)
		return math.Exp(h)*(1+l)*2*sqrtHalfPi - Mills(-x)
	case x < seriesLimit:
		return millsSeries(x)
	case math.IsInf(x, 1):
		return 0
	}
	return 1 / (x + millsTail(x))
}

// MillsComplement returns 1 - x M(x), the negative derivative of the Mills
// ratio, without the cancellation of the formula: far out it is near 1/x^2.
// Relative error at most 16 ulp for x >= -1.
func MillsComplement(x float64) float64 {
	if x < seriesLimit {
		return 1 - x*Mills(x)
	}
	if math.IsInf(x, 1) {
		return 0
	}
	k := millsTail(x)
	return k / (x + k)
}

// MillsDifference returns M(x) - M(x+h) for x >= -1/2 and h >= 0 with a relative
// error of at most 48 ulp. Times phi(x) it is the difference of two normal tails
// whose densities agree at their ends, which is what the privacy profile of the
// Gaussian mechanism is.
func MillsDifference(x, h float64) float64 {
	if h >= 1+max(x, 0) {
		return Mills(x) - Mills(x+h) // M(x+h) is below 0.53 M(x): little cancels
	}
	// The integral of 1 - t M(t), a completely monotone function, over
	// [x, x+h]: 20-point Gauss-Legendre is exact to 1e-18 relative there,
	// because the 40th derivative is below both 2^20 20! (times 60 where t is
	// negative) and 41!/t^42.
	sum, half := 0.0, h/2
	mid := x + half
	const n = len(legendreNodes)
	var at, value [2 * n]float64 // ascending
	for i, node := range legendreNodes {
		at[n-1-i], at[n+i] = mid-half*node, mid+half*node
	}
	millsComplements(&value, &at)
	for i, weight := range legendreWeights {
		sum += weight * (value[n-1-i] + value[n+i])
	}
	return half * sum
}

// millsComplements sets dst to MillsComplement of finite x in ascending order. The continued fractions
// advance together: within one each division waits for the one before.
func millsComplements(dst, x *[2 * len(legendreNodes)]float64) {
	first := 0
	for ; first < len(x) && x[first] < seriesLimit; first++ {
		dst[first] = MillsComplement(x[first])
	}
	if first == len(x) {
		return
	}
	begun, next := first, millsLevels(x[first])
	for n := next; n >= 1; n-- {
		for begun < len(x) && next >= n {
			dst[begun] = millsClosing(x[begun], n)
			if begun++; begun < len(x) {
				next = millsLevels(x[begun])
			}
		}
		for i, k := range dst[first:begun] {
			dst[first+i] = float64(n) / (x[first+i] + k)
		}
	}
	for i, k := range dst[first:] {
		dst[first+i] = k / (x[first+i] + k)
	}
}

// millsSeries is e^(x^2/2) sqrt(pi/2) minus the sum of x^(2k+1)/(2k+1)!!.
func millsSeries(x float64) float64 {
	term, sum := x, x
	for k := 3.0; math.Abs(term) > math.Abs(sum)*0x1p-56; k += 2 {
		term *= x * x / k
		sum += term
	}
	return math.Exp(x*x/2)*sqrtHalfPi - sum
}

// millsTail is the continued fraction 1/(x + 2/(x + 3/(x + ...))), x >= 1.
// Its terms are positive, so errors shrink from step to step. Truncation at
// level n leaves about exp(-2 x sqrt(2 n)) near 1 and n!/x^(2n) far out, less
// what the closing value, the fixed point of the last level, recovers.
func millsTail(x float64) float64 {
	n := millsLevels(x)
	k := millsClosing(x, n)
	for ; n >= 1; n-- {
		k = float64(n) / (x + k)
	}
	return k
}

func millsLevels(x float64) int { return int(225/(x*x)) + 20 }

func millsClosing(x float64, n int) float64 {
	return 2 * float64(n+1) / (x + math.Sqrt(x*x+4*float64(n+1)))
}

// halfSquare returns x^2/2 as h + l, exactly away from over- and underflow.
func halfSquare(x float64) (h, l float64) {
	s := x * x
	return s / 2, math.FMA(x, x, -s) / 2
}
