package hook

import "math/big"

// Tape observes private sums before and after their noise is added. It is for replay certificates,
// which run a dataset and its neighbour with the same noise: noise.NewTaped makes a source with
// one.
type Tape interface {
	// Release is called with a sum in lattice steps and with the same sum after its noise, of
	// standard deviation sigma steps, was added. The contents of noisy when it returns are
	// released. It must keep neither slice. If a tape also has the method Drawn(sigma float64),
	// that is called before every Gaussian draw.
	Release(step, sigma float64, sum, noisy []int64)
}

// LaplaceTape is a [Tape] that sees sums of counts with discrete Laplace noise too.
type LaplaceTape interface {
	Tape
	// ReleaseLaplace is as Release of a sum whose noise is discrete Laplace of the given scale, on
	// the lattice of the integers. If a tape also has the method DrawnLaplace(scale float64), that
	// is called before every discrete Laplace draw.
	ReleaseLaplace(scale float64, sum, noisy []int64)
}

// ChoiceTape is a [Tape] that sees private choices too.
type ChoiceTape interface {
	Tape
	// Choose is called with the exact scores of the candidates, with the rate (permute-and-flip
	// accepts a candidate with probability exp(-rate (largest score - score))), and with the
	// candidate that was drawn. Its return value is released. It must keep neither scores nor rate.
	// If a tape also has the method Tossed(x *big.Rat), that is called before every coin of
	// probability exp(-x); it must not keep x.
	Choose(scores []int64, rate *big.Rat, drawn int) int
}
