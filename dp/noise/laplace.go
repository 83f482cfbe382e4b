package noise

import (
	"math/big"
	"sync"
)

// Laplace draws round(Lap(scale)): a Laplace variable, of density exp(-|x|/scale)/(2 scale),
// rounded to the nearest integer, with the exact distribution. Added to a sum of integers it gives
// the rounding of the continuous Laplace mechanism on that sum. See docs/proofs/noise.md.
type Laplace struct {
	continuous
	scale float64
}

// A strip of the Laplace density is 2^-5 scales wide and the table ends at 16.
const laplaceUnit = 5

var laplaceCover = sync.OnceValue(func() *cover {
	a := big.NewRat(1, 1<<laplaceUnit)
	return newCover(curve{a: a}, false, 1, 5)
})

// NewLaplace returns a sampler with the given scale, in lattice steps; the
// standard deviation before rounding is sqrt(2) times as much. The scale is
// taken as the exact dyadic rational that the float64 is, between 0.001 and
// 2^40; otherwise the error wraps [ErrParameter].
func NewLaplace(scale float64) (*Laplace, error) {
	if err := checkScale("scale", scale); err != nil {
		return nil, err
	}
	return &Laplace{newContinuous(laplaceCover(), scale, laplaceUnit), scale}, nil
}

// Scale returns the scale before rounding, in lattice steps.
func (l *Laplace) Scale() float64 { return l.scale }

// Sample draws one integer.
func (l *Laplace) Sample(src *Source) int64 { return l.sample(src) }

// Fill fills dst with independent draws, the same as repeated calls of Sample.
func (l *Laplace) Fill(dst []int64, src *Source) {
	for i := range dst {
		dst[i] = l.sample(src)
	}
}
