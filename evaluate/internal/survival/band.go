package survival

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// Band is a curve, by the end of each bin, and limits that hold together. Values end with the
// last bin in which enough persons are at risk, and limits with the last bin.
type Band struct{ Values, Lower, Upper []float64 }

// miss is the probability with which a band, or an interval, may miss.
const miss = 0.05

// critical is by how many standard deviations limits at several points must lie apart to miss
// one of them with probability alpha at most: the less of Bonferroni's and of Naiman's (1986), which takes the length of the path
// of the standardised errors on the sphere. correlations are those of each point with the next.
func critical(correlations []float64, alpha float64) float64 {
	length := 0.0
	for _, r := range correlations {
		length += math.Acos(max(min(r, 1), -1))
	}
	low, high := xmath.NormQuantile(1-alpha/2), bonferroni(len(correlations)+1, alpha)
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

// bonferroni is the critical value of so many limits on both sides, whatever their correlations.
func bonferroni(limits int, alpha float64) float64 {
	return xmath.NormQuantile(1 - alpha/2/float64(max(limits, 1)))
}

// pathCritical is the critical value of a curve at points 1 to last with the given covariance.
func pathCritical(last int, alpha float64, covariance func(i, j int) float64) float64 {
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
	return critical(correlations, alpha)
}

// limits are those p at which an estimate x of p lies c standard deviations away (Wilson 1927),
// where the sampling variance at p is p(1-p)/persons and that of the noise is added. They do not
// collapse where nothing, or everything, was seen. With noise they may leave [0, 1].
//
// A count of few persons jumps: where noise does not smooth it, jump is half a person's share, by
// which limits lie farther away (Newcombe 1998, method 4).
func limits(x, persons, noise, jump, c float64) (lower, upper float64) {
	k := c * c / persons
	at := func(x, side float64) float64 {
		root := (x+k/2)*(x+k/2) - (1+k)*(x*x-c*c*noise)
		return (x + k/2 + side*math.Sqrt(max(root, 0))) / (1 + k)
	}
	return min(at(x-jump, -1), x), max(at(x+jump, 1), x)
}

// effective is the number of persons without censoring of whom the incidence of a cause, or of
// all at 0, would have the sampling variance that it has, by the end of bin upTo. Bins without
// an event count as with a small one, so that it is known there too.
func (p *path) effective(a arm, cause, upTo int) float64 {
	if upTo == 0 { // nobody has left
		return 1
	}
	small := 1 / float64(len(a.cells))
	s := 1.0
	event := make([]float64, upTo)
	all := make([]float64, upTo)
	before := make([]float64, upTo+1)
	before[0] = 1
	f := make([]float64, upTo+1)
	for j := range upTo {
		for c := 1; c <= a.causes; c++ {
			h := (max(a.at(j, c), 0) + small) / max(p.risk[j], 1)
			all[j] += h
			if c == cause || cause == 0 {
				event[j] += h
			}
		}
		if most := 1 - 1e-9; all[j] > most {
			event[j] *= most / all[j]
			all[j] = most
		}
		f[j+1] = f[j] + s*event[j]
		s *= 1 - all[j]
		before[j+1] = s
	}
	variance := 0.0
	for j := range upTo {
		rest := (f[upTo] - f[j+1]) / before[j+1]
		own, others := before[j]*(1-rest), -before[j]*rest
		mean := event[j]*own + (all[j]-event[j])*others
		variance += (event[j]*own*own + (all[j]-event[j])*others*others - mean*mean) / max(p.risk[j], 1)
	}
	if !(variance > 0) {
		return max(p.risk[0], 1)
	}
	return max(f[upTo]*(1-f[upTo])/variance, 1e-9)
}

// newBand is an empty band of that many bins, with values in the first ones, which are known.
func newBand(known, bins int) Band {
	return Band{make([]float64, known), make([]float64, bins), make([]float64, bins)}
}

// quantile is the standard normal quantile of that many intervals that hold together.
func quantile(intervals int) float64 {
	return xmath.NormQuantile(1 - miss/2/float64(max(intervals, 1)))
}

// fall makes a band of what never rises such a band: limits that hold together still do, and
// values become the mean of the least so far and the largest to come.
func (b Band) fall() { b.monotone(b.Upper, b.Lower, func(x, y float64) bool { return x < y }) }

// rise is fall of what never falls.
func (b Band) rise() { b.monotone(b.Lower, b.Upper, func(x, y float64) bool { return x > y }) }

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
