package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// half is half of an interval at a normal error of one standard deviation and an error of privacy of
// another, which is normal or Laplace: z standard deviations of both would hold less. A sum
// of several Laplace numbers has the lighter tail there: docs/proofs/overlap.md.
func (b Bounds) half(sampling, private float64) float64 {
	both := math.Hypot(sampling, private)
	if !b.Laplace || private < 1e-6*sampling { // where it does not show
		return b.Z() * both
	}
	return quantileOf(sampling, private, b.tail(), -math.Log(b.tail())*both) // beyond it is less for either law
}

// Refuting is the standard deviation of a normal number that is as often above so many of it, as [Refuted]
// wants, as both errors together are.
func (b Bounds) Refuting(sampling, private float64) float64 {
	both := math.Hypot(sampling, private)
	if !b.Laplace {
		return both
	}
	return quantileOf(sampling, private, xmath.NormSF(refuting), 2*refuting*both) / refuting
}

// quantileOf is the point, up to most, beyond which such an error, its private part Laplace, lies with probability tail.
func quantileOf(sampling, private, tail, most float64) float64 {
	low, high := 0.0, most
	for range 80 {
		if middle := (low + high) / 2; beyondBoth(middle, sampling, private/math.Sqrt2) > tail {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// beyondBoth is the probability that the sum of a normal number of a standard deviation and a
// Laplace number of a scale is above x.
func beyondBoth(x, sd, scale float64) float64 {
	if sd == 0 {
		return math.Exp(-x/scale) / 2
	}
	z, a := x/sd, sd/scale
	tail := math.Exp(a*a/2-x/scale+xmath.LogNormSF(a-z)) - math.Exp(a*a/2+x/scale+xmath.LogNormSF(a+z))
	return xmath.NormSF(z) + tail/2
}

// Event is that of the pair at the largest cap, after that of an anchor where it is paid for.
func (b Bounds) Event() (dp.Event, error) {
	m, err := b.alone(b.Caps.At(0).Max)
	if err != nil {
		return nil, err
	}
	if b.Noise.Anchor == 0 {
		return m.Event(), nil
	}
	first, err := b.round(b.Noise.Anchor)
	if err != nil {
		return nil, err
	}
	return dp.Composed{Events: []dp.Event{first.Event(), m.Event()}}, nil
}
