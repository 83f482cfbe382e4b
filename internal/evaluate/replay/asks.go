package replay

import "fmt"

// asks follows what the sampler of noise was asked for since the last noisy sum.
type asks struct {
	sigma float64
	draws int // in a row, of this standard deviation
	amiss string
}

// Drawn is called before each draw, see package noise.
func (a *asks) Drawn(sigma float64) {
	if sigma != a.sigma {
		a.sigma, a.draws = sigma, 0
	}
	a.draws++
}

// hold compares the draws with what is told of the sum of n coordinates that they are for.
func (a *asks) hold(sigma float64, n int) {
	if n > 0 && a.amiss == "" && (a.sigma != sigma || a.draws < n) {
		a.amiss = fmt.Sprintf("a noisy sum of %d coordinates tells noise of %v steps, and the sampler was asked for %d draws of %v", n, sigma, a.draws, a.sigma)
	}
	a.draws = 0
}
