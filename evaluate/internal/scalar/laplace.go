package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// halfOf is half of a 95% interval at a normal error of one standard deviation and an error
// of privacy of another, which is normal or, with laplace, Laplace: z standard
// deviations of both would hold less.
func halfOf(sampling, private float64, laplace bool) float64 {
	both := math.Hypot(sampling, private)
	if !laplace || private < 1e-6*sampling { // where it does not show
		return Z95 * both
	}
	return quantileOf(sampling, private, 0.025, 4*both) // beyond it is less than 1% for either law
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

// Event is that of the pair alone, at the largest cap.
func (b Bounds) Event() (dp.Event, error) {
	m, err := b.alone(b.Caps.At(0).Max)
	if err != nil {
		return nil, err
	}
	return m.Event(), nil
}

// half is half of an interval at both errors.
func (b Bounds) half(sampling, private float64) float64 {
	if b.Laplace {
		return halfOf(sampling, private, true)
	}
	return b.Z() * math.Hypot(sampling, private)
}
