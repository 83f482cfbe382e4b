package noise

import "math/big"

// DiscreteLaplace draws integers with probability proportional to exp(-|k|/scale), exactly (the
// two-sided geometric distribution of Ghosh, Roughgarden, Sundararajan 2009). Its event is
// dp.DiscreteLaplace.
type DiscreteLaplace struct {
	discrete
	scale float64
}

// NewDiscreteLaplace returns a sampler with the given scale, in lattice steps.
// The scale is taken as the exact dyadic rational that the float64 is, between
// 0.001 and 2^40; otherwise the error wraps [ErrParameter]. It builds
// tables, which takes some hundred microseconds: keep the sampler.
func NewDiscreteLaplace(scale float64) (*DiscreteLaplace, error) {
	if err := checkScale("scale", scale); err != nil {
		return nil, err
	}
	points := stripPoints(scale, laplaceUnit-1)
	a := new(big.Rat).SetFrac64(1<<points, 1)
	a.Quo(a, new(big.Rat).SetFloat64(scale))
	return &DiscreteLaplace{newDiscrete(curve{a: a}, points, 5), scale}, nil
}

// Scale returns the scale, in lattice steps.
func (l *DiscreteLaplace) Scale() float64 { return l.scale }

// Sample draws one integer.
func (l *DiscreteLaplace) Sample(src *Source) int64 {
	if t, ok := src.tape.(laplaceTape); ok {
		t.DrawnLaplace(l.scale)
	}
	return l.sample(src)
}

// Fill fills dst with independent draws, the same as repeated calls of Sample.
func (l *DiscreteLaplace) Fill(dst []int64, src *Source) {
	for i := range dst {
		dst[i] = l.Sample(src)
	}
}
