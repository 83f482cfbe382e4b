package noise

import (
	"math/big"
	"sync"
)

// Gaussian draws round(N(0, sigma^2)): a normal variable rounded to the nearest integer, with the
// exact distribution. Added to a sum of integers it gives the rounding of the continuous Gaussian
// mechanism on that sum, so every theorem about that mechanism holds by post-processing. See
// docs/proofs/noise.md.
type Gaussian struct {
	continuous
	sigma float64
}

// A strip of the normal density is 2^-6 standard deviations wide and the table
// ends at 8.
const gaussianUnit = 6

var gaussianCover = sync.OnceValue(func() *cover {
	a := big.NewRat(1, 2<<(2*gaussianUnit)) // (z/64)^2 / 2
	return newCover(curve{a: a, quadratic: true}, false, 1, 6)
})

// NewGaussian returns a sampler with standard deviation sigma, in lattice steps,
// before rounding. Sigma is taken as the exact dyadic rational that the float64
// is, between 0.001 and 2^40; otherwise the error wraps
// [ErrParameter].
func NewGaussian(sigma float64) (*Gaussian, error) {
	if err := checkScale("sigma", sigma); err != nil {
		return nil, err
	}
	return &Gaussian{newContinuous(gaussianCover(), sigma, gaussianUnit), sigma}, nil
}

// Sigma returns the standard deviation before rounding, in lattice steps.
func (g *Gaussian) Sigma() float64 { return g.sigma }

// Sample draws one integer.
func (g *Gaussian) Sample(src *Source) int64 {
	if src.tape != nil {
		src.drawn(g.sigma)
	}
	return g.sample(src)
}

// Fill fills dst with independent draws, the same as repeated calls of Sample.
func (g *Gaussian) Fill(dst []int64, src *Source) {
	for i := range dst {
		dst[i] = g.Sample(src)
	}
}
