package xmath

import "math"

const (
	halfLog2Pi = 0.91893853320467274178 // ln(2 pi)/2
	invSqrt2Pi = 0.39894228040143267794 // 1/sqrt(2 pi)
)

// NormPDF returns the standard normal density. Relative error at most 6 ulp
// where the result is not denormal.
func NormPDF(x float64) float64 {
	h, l := halfSquare(x)
	if math.IsInf(h, 1) {
		return 0
	}
	return invSqrt2Pi * math.Exp(-h) * (1 - l)
}

// LogNormPDF returns the logarithm of the standard normal density.
func LogNormPDF(x float64) float64 {
	h, l := halfSquare(x)
	if math.IsInf(h, 1) {
		return math.Inf(-1)
	}
	return -h - (l + halfLog2Pi)
}

// NormSF returns 1 - Phi(x), the upper tail of the standard normal law.
// Relative error at most 16 ulp where the result is not denormal (x < 37.5).
func NormSF(x float64) float64 {
	if x < 0 {
		return 1 - NormSF(-x)
	}
	return NormPDF(x) * Mills(x)
}

// NormCDF returns Phi(x), with the accuracy of [NormSF].
func NormCDF(x float64) float64 { return NormSF(-x) }

// LogNormSF returns ln(1 - Phi(x)) for any x. Its absolute error is at most
// 16 ulp of 1 plus 1 ulp of the result, and for x < 0 its relative error is at
// most 32 ulp.
func LogNormSF(x float64) float64 {
	if x < 0 {
		return math.Log1p(-NormSF(-x))
	}
	if math.IsInf(x, 1) {
		return math.Inf(-1)
	}
	return LogNormPDF(x) + math.Log(Mills(x))
}

// LogNormCDF returns ln Phi(x), with the accuracy of [LogNormSF].
func LogNormCDF(x float64) float64 { return LogNormSF(-x) }

// LogNormISF is the inverse of [LogNormSF]: the x at which ln(1 - Phi(x)) is
// logp. It is NaN for logp > 0.
func LogNormISF(logp float64) float64 {
	switch {
	case !(logp <= 0):
		return math.NaN()
	case logp == 0:
		return math.Inf(-1)
	case math.IsInf(logp, -1):
		return math.Inf(1)
	case logp > -math.Ln2:
		// Mirror, so that the root is always sought in the upper tail.
		return -LogNormISF(Log1mExp(logp))
	}
	return upperTail(logp)
}

// upperTail solves ln(1-Phi(x)) = logp for x >= 0 by Newton's method. The log
// tail is concave and the start lies above the root (1-Phi(x) <= e^(-x^2/2)/2),
// so the steps go down monotonically.
func upperTail(logp float64) float64 {
	x := math.Sqrt(-2 * (logp + math.Ln2))
	if math.IsNaN(x) {
		x = 0
	}
	for range 60 {
		step := (LogNormSF(x) - logp) * Mills(x)
		x += step
		if math.Abs(step) <= 0x1p-52*math.Abs(x) {
			break
		}
	}
	return max(x, 0)
}

// NormISF is the inverse of [NormSF] for p in (0, 1); it is NaN outside [0, 1].
func NormISF(p float64) float64 {
	if p > 0.5 {
		// 1-p is exact here, and the logarithm of p near 1 is not.
		return -LogNormISF(math.Log(1 - p))
	}
	return LogNormISF(math.Log(p))
}

// NormQuantile is the inverse of [NormCDF].
func NormQuantile(p float64) float64 { return -NormISF(p) }
