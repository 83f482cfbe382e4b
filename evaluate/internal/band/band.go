package band

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// Band is a curve and limits that hold together. Values may end before limits do.
type Band struct{ Values, Lower, Upper []float64 }

// CriticalValue is by how many standard deviations limits at several points must lie apart to miss
// one of them with probability alpha at most: the less of Bonferroni's and of Naiman's (1986), which takes the length of the path
// of the standardised errors on the sphere. correlations are those of each point with the next.
func CriticalValue(correlations []float64, alpha float64) float64 {
	length := 0.0
	for _, r := range correlations {
		length += math.Acos(max(min(r, 1), -1))
	}
	low, high := xmath.NormQuantile(1-alpha/2), Bonferroni(len(correlations)+1, alpha)
	for range 60 {
		c := (low + high) / 2
		if length/math.Pi*math.Exp(-c*c/2)+2*xmath.NormSF(c) > alpha {
			low = c
		} else {
			high = c
		}
	}
	return high
}

// Bonferroni is the critical value of so many limits on both sides, whatever their correlations.
func Bonferroni(limits int, alpha float64) float64 {
	return xmath.NormQuantile(1 - alpha/2/float64(max(limits, 1)))
}

// PathCritical is the critical value of a curve at points 1 to last with the given covariance.
func PathCritical(last int, alpha float64, covariance func(i, j int) float64) float64 {
	var correlations []float64
	before, own := -1, 0.0
	for j := 1; j <= last; j++ {
		v := covariance(j, j)
		if !(v > 0) {
			continue
		}
		if before >= 0 {
			correlations = append(correlations, covariance(before, j)/math.Sqrt(v*own))
		}
		before, own = j, v
	}
	return CriticalValue(correlations, alpha)
}

// Fall makes a band of what never rises such a band: limits that hold together still do, and
// values become the mean of the least so far and the largest to come.
func (b Band) Fall() { b.monotone(b.Upper, b.Lower, func(x, y float64) bool { return x < y }) }

// Rise is Fall of what never falls.
func (b Band) Rise() { b.monotone(b.Lower, b.Upper, func(x, y float64) bool { return x > y }) }

// monotone carries ahead, the limit that bounds later values, forwards, and behind, which bounds
// earlier ones, backwards.
func (b Band) monotone(ahead, behind []float64, beyond func(x, y float64) bool) {
	forwards(ahead, beyond)
	backwards(behind, beyond)
	for i, v := range b.Values {
		b.Values[i] = min(max(v, 0), 1)
	}
	earlier, later := append([]float64(nil), b.Values...), append([]float64(nil), b.Values...)
	forwards(earlier, beyond)
	backwards(later, beyond)
	for i := range b.Lower {
		if b.Lower[i] > b.Upper[i] {
			b.Lower[i], b.Upper[i] = b.Upper[i], b.Lower[i]
		}
		if i < len(b.Values) {
			b.Values[i] = min(max((earlier[i]+later[i])/2, b.Lower[i]), b.Upper[i])
		}
	}
}

// forwards replaces each number by the one before it where that is beyond it.
func forwards(x []float64, beyond func(x, y float64) bool) {
	for i := 1; i < len(x); i++ {
		if beyond(x[i-1], x[i]) {
			x[i] = x[i-1]
		}
	}
}

// backwards replaces each number by the one after it where it is beyond that.
func backwards(x []float64, beyond func(x, y float64) bool) {
	for i := len(x) - 2; i >= 0; i-- {
		if beyond(x[i], x[i+1]) {
			x[i] = x[i+1]
		}
	}
}
