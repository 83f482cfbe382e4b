package scalar

import "math"

// refuting and unseenMost say when a mean weight refutes the probabilities that weights
// are made of. With right ones it is 1 at most, whatever is cut or missing. It lies
// more than refuting of its standard errors above by chance once in 30,000 releases,
// as a normal number does; outcomes of weight 0 that the data happen not to show, which
// lower neither mean nor standard error, are fewer than unseenMost persons in all but
// one of 20,000 logs.
const (
	refuting   = 4
	unseenMost = 10
)

// refuted tells whether a mean weight is above what chance and noise make of 1.
func refuted(mean, sd, persons float64) bool {
	return mean-unseenMost*mean/persons > 1+refuting*sd
}

// Doubt is an estimate whose probabilities are refuted, by it or by another estimate
// of the same release: its interval is all of the public range.
func (b Bounds) Doubt(e *Estimate) *Estimate {
	out := *e
	whole := [2]float64{b.at(0), b.at(1)}
	half := b.Z() * math.Hypot(e.StdSampling, e.StdPrivacy)
	out.Clipping = [2]float64{max(e.Value-half-whole[0], 0), max(whole[1]-e.Value-half, 0)}
	out.Interval = whole
	return &out
}
