package replay

import (
	"fmt"
	"math/big"
	"slices"
)

// asks follows what the sampler of noise was asked for since the last noisy sum.
type asks struct {
	sigma   float64
	laplace bool // sigma is the scale of discrete Laplace noise
	draws   int  // in a row, of this standard deviation or scale
	amiss   string
	coins   []*big.Rat // exponents of the coins since then
}

// Tossed is called before each coin, see package noise.
func (a *asks) Tossed(x *big.Rat) {
	if len(a.coins) < mostCoins {
		a.coins = append(a.coins, new(big.Rat).Set(x))
	}
}

// mostCoins that are kept: a choice tosses one for each candidate.
const mostCoins = 1 << 10

// holdChoice compares the coins with what is told of a choice: each is of another candidate.
func (a *asks) holdChoice(scores []int64, rate *big.Rat) {
	best, left := slices.Max(scores), slices.Clone(scores)
	for _, x := range a.coins {
		i := -1
		if behind := new(big.Rat).Quo(x, rate); behind.IsInt() && behind.Num().IsInt64() {
			i = slices.Index(left, best-behind.Num().Int64())
		}
		if i < 0 {
			if a.amiss == "" {
				f, _ := x.Float64()
				a.amiss = fmt.Sprintf("a coin falls with probability exp(-%v), which is that of no candidate left at the rate that is told", f)
			}
			break
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(a.coins) == 0 && a.amiss == "" {
		a.amiss = "a choice without a coin"
	}
	a.coins = nil
}

// Drawn is called before each draw, see package noise.
func (a *asks) Drawn(sigma float64) { a.drawn(sigma, false) }

// DrawnLaplace is called before each draw of discrete Laplace noise.
func (a *asks) DrawnLaplace(scale float64) { a.drawn(scale, true) }

func (a *asks) drawn(sigma float64, laplace bool) {
	a.coins = nil // of the sampler of noise
	if sigma != a.sigma || laplace != a.laplace {
		a.sigma, a.laplace, a.draws = sigma, laplace, 0
	}
	a.draws++
}

// hold compares the draws with what is told of the sum of n coordinates that they are for.
func (a *asks) hold(sigma float64, laplace bool, n int) {
	if n > 0 && a.amiss == "" && (a.sigma != sigma || a.laplace != laplace || a.draws < n) {
		a.amiss = fmt.Sprintf("a noisy sum of %d coordinates tells noise of %v steps, and the sampler was asked for %d draws of %v", n, sigma, a.draws, a.sigma)
	}
	a.draws = 0
}
