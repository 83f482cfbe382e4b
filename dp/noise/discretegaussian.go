package noise

import "math/big"

// DiscreteGaussian draws integers with probability proportional to exp(-k^2/(2 sigma^2)), exactly
// (Canonne, Kamath, Steinke 2020, definition 1). Its event is dp.DiscreteGaussian.
type DiscreteGaussian struct {
	discrete
	sigma float64
}

// NewDiscreteGaussian returns a sampler with parameter sigma, in lattice steps,
// which is a little above the standard deviation. Sigma is taken as the exact
// dyadic rational that the float64 is, between 0.001 and 2^40;
// otherwise the error wraps [ErrParameter]. It builds tables, which takes some
// hundred microseconds: keep the sampler.
func NewDiscreteGaussian(sigma float64) (*DiscreteGaussian, error) {
	if err := checkScale("sigma", sigma); err != nil {
		return nil, err
	}
	points := stripPoints(sigma, gaussianUnit-1)
	// In units of 2^points integers the exponent is (2^points z)^2/(2 sigma^2).
	a := new(big.Rat).SetFrac64(1<<points, 1)
	a.Quo(a, new(big.Rat).SetFloat64(sigma))
	a.Mul(a, a).Quo(a, big.NewRat(2, 1))
	return &DiscreteGaussian{newDiscrete(curve{a: a, quadratic: true}, points, 6), sigma}, nil
}

// Sigma returns the parameter sigma, in lattice steps.
func (g *DiscreteGaussian) Sigma() float64 { return g.sigma }

// Sample draws one integer.
func (g *DiscreteGaussian) Sample(src *Source) int64 { return g.sample(src) }

// Fill fills dst with independent draws, the same as repeated calls of Sample.
func (g *DiscreteGaussian) Fill(dst []int64, src *Source) {
	for i := range dst {
		dst[i] = g.sample(src)
	}
}
