package distribution

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/band"
)

// Quantity is a number that follows from a distribution function, with limits that hold
// together with the function's.
type Quantity struct {
	Value, Lower, Upper float64
	// StdSampling and StdPrivacy are the standard deviations that finitely many persons and
	// the noise make, and Open by how much the limits lie farther out for mass that is missing.
	StdSampling, StdPrivacy float64
	Open                    [2]float64
}

// Quantile is the smallest return at which the function is at least share.
func (f Function) Quantile(share float64) Quantity {
	return f.quantity(share, func(b band.Band) (lower, value, upper float64) {
		return f.start(reaches(b.Upper, share)), f.between(b.Values, share), f.question.Ends[reaches(b.Lower, share)]
	})
}

// LowerTail is the mean of the lowest share of returns, and UpperTail that of the highest.
func (f Function) LowerTail(share float64) Quantity { return f.tail(share, 0, share) }

// UpperTail is described at LowerTail.
func (f Function) UpperTail(share float64) Quantity { return f.tail(1-share, 1-share, 1) }

func (f Function) tail(at, from, to float64) Quantity {
	return f.quantity(at, func(b band.Band) (lower, value, upper float64) {
		mean := func(curve []float64, place func(bin int) float64) float64 {
			before, sum := from, 0.0
			for j, v := range curve {
				if v = min(max(v, from), to); v > before {
					sum += (v - before) * place(j)
					before = v
				}
			}
			return sum / (to - from)
		}
		end := func(j int) float64 { return f.question.Ends[j] }
		middle := func(j int) float64 { return (f.start(j) + f.question.Ends[j]) / 2 }
		return mean(b.Upper, f.start), mean(b.Values, middle), mean(b.Lower, end)
	})
}

// quantity computes a number of the band, and without what is missing.
func (f Function) quantity(at float64, of func(b band.Band) (lower, value, upper float64)) Quantity {
	q := Quantity{}
	q.Lower, q.Value, q.Upper = of(f.Band)
	q.Value = min(max(q.Value, q.Lower), q.Upper)
	lower, _, upper := of(f.alone)
	q.Open = [2]float64{max(lower-q.Lower, 0), max(q.Upper-upper, 0)}
	sd, noise := max(upper-lower, 0)/(2*f.critical), f.noise[min(reaches(f.Band.Values, at), max(len(f.noise)-2, 0))]
	q.StdSampling, q.StdPrivacy = sd*math.Sqrt(1-noise), sd*math.Sqrt(noise)
	return q
}

// reaches is the first bin by whose end a curve is at least share.
func reaches(curve []float64, share float64) int {
	for j, v := range curve {
		if v >= share {
			return j
		}
	}
	return len(curve) - 1
}

// start is the least return of a bin.
func (f Function) start(bin int) float64 {
	switch {
	case f.question.Discrete:
		return f.question.Ends[bin]
	case bin == 0:
		return f.question.Least
	}
	return f.question.Ends[bin-1]
}

// between is where the curve reaches share: an end, or within a bin where it runs straight.
func (f Function) between(curve []float64, share float64) float64 {
	j := reaches(curve, share)
	start, before := f.start(j), 0.0
	if j > 0 {
		before = curve[j-1]
	}
	if !(curve[j] > before) {
		return f.question.Ends[j]
	}
	return start + (f.question.Ends[j]-start)*min(max((share-before)/(curve[j]-before), 0), 1)
}
