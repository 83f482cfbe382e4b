package noise

import (
	"fmt"
	"math"
	"math/big"
)

// FastGaussian draws float64 normals from the cryptographic source, for
// step-wise methods that need tens of millions of draws. The draw itself is
// exact to the last bits, but sums of floats are not: it is NOT protected
// against floating-point attacks (Mironov 2012), and a release made with it must
// say so.
type FastGaussian struct {
	cover *cover
	sigma float64
	step  float64 // sigma 2^-61
}

// NewFastGaussian returns a sampler with standard deviation sigma, in the units
// of the values that it is added to, between 2^-500 and 2^500; otherwise the
// error wraps [ErrParameter].
func NewFastGaussian(sigma float64) (*FastGaussian, error) {
	if !(sigma >= 0x1p-500 && sigma <= 0x1p500) {
		return nil, fmt.Errorf("%w: sigma is %v; want between 2^-500 and 2^500", ErrParameter, sigma)
	}
	return &FastGaussian{gaussianCover(), sigma, sigma * 0x1p-61}, nil
}

// Sigma returns the standard deviation.
func (g *FastGaussian) Sigma() float64 { return g.sigma }

// Sample draws one normal.
func (g *FastGaussian) Sample(src *Source) float64 {
	for {
		strip := g.cover.pick(src.Uint64())
		if strip != other {
			word := src.Uint64()
			return g.finish(strip<<lowBits|word>>stripBits, word&1)
		}
		z, far, sign, ok := g.cover.drawRest(src)
		switch {
		case !ok:
		case far != nil:
			return g.finishFar(far, sign)
		default:
			return g.finish(z, sign)
		}
	}
}

// finish scales a draw whose magnitude is z 2^-61.
func (g *FastGaussian) finish(z, sign uint64) float64 {
	x := float64(z) * g.step
	return math.Float64frombits(math.Float64bits(x) | sign<<63)
}

// finishFar scales a draw whose magnitude is x strips.
func (g *FastGaussian) finishFar(x *prefix, sign uint64) float64 {
	z, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(x.z), -int(x.n)-gaussianUnit).Float64()
	if sign == 1 {
		z = -z
	}
	return z * g.sigma
}

// Fill fills dst with independent draws, the same as repeated calls of Sample.
func (g *FastGaussian) Fill(dst []float64, src *Source) {
	for i := range dst {
		dst[i] = g.Sample(src)
	}
}
