package hook

import "math/big"

// Tape sees private sums become noisy. It serves replay certificates, which run a
// dataset and its neighbour with the same noise: noise.NewTaped makes a source with one.
type Tape interface {
	// Release is called with a sum in lattice steps and with the same sum after its
	// noise, of standard deviation sigma steps, was added. What noisy holds when it
	// returns is released. It keeps neither slice. A tape that also has the method
	// Drawn(sigma float64) is told of every Gaussian draw before it.
	Release(step, sigma float64, sum, noisy []int64)
}

// ChoiceTape is a [Tape] that sees private choices too.
type ChoiceTape interface {
	Tape
	// Choose is called with the exact scores of the candidates, with the rate, so that a
	// coin of permute-and-flip falls with probability exp(-rate (largest score - score)),
	// and with the candidate that was drawn. What it returns is released. It keeps
	// neither scores nor rate.
	Choose(scores []int64, rate *big.Rat, drawn int) int
}
