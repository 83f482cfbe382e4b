package xmath

import "math"

// LogAdd returns ln(e^a + e^b) without overflow. LogAdd(-Inf, b) is b.
func LogAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) || math.IsInf(a, 1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// Log1mExp returns ln(1 - e^x) for x <= 0, accurate at both ends: near 0, where
// the difference cancels, and far below, where the exponential vanishes. It is
// NaN for x > 0.
func Log1mExp(x float64) float64 {
	if x > -math.Ln2 {
		return math.Log(-math.Expm1(x))
	}
	return math.Log1p(-math.Exp(x))
}

// LogExpm1 returns ln(e^x - 1) for x >= 0, without overflow.
func LogExpm1(x float64) float64 {
	if x > math.Ln2 {
		return x + math.Log1p(-math.Exp(-x))
	}
	return math.Log(math.Expm1(x))
}

// LogSumExp returns ln(sum of e^x) over xs, and -Inf for an empty slice.
func LogSumExp(xs []float64) float64 {
	top := math.Inf(-1)
	for _, x := range xs {
		top = max(top, x)
	}
	if math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}
