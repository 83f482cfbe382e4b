package survival

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/band"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Band is a curve, by the end of each bin, and limits that hold together. Values end with the
// last bin in which enough persons are at risk, and limits with the last bin.
type Band = band.Band

// miss is the probability with which a band, or an interval, may miss.
const miss = 0.05

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
	return Band{Values: make([]float64, known), Lower: make([]float64, bins), Upper: make([]float64, bins)}
}

// quantile is the standard normal quantile of that many intervals that hold together.
func quantile(intervals int) float64 {
	return xmath.NormQuantile(1 - miss/2/float64(max(intervals, 1)))
}
