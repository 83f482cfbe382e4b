package local

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// cells is the number of values that a number reported by a window can take.
const cells = 1 << 16

// window is the piecewise mechanism (Wang et al. 2019, section III-B) on a row of
// cells: a window of width cells stands where the input says; a cell inside it is
// reported, uniformly, unless the randomiser lies, and then one outside.
type window struct {
	width uint64
	lie   uint64  // of 2^64
	scale float64 // from the centred cell to the unbiased estimate
}

// newWindow returns the window of a given epsilon: of the cells, the fraction
// 1/(e^(epsilon/2)+1), which minimises the variance in the continuous case.
func newWindow(epsilon float64) window {
	width := max(1, math.Round(cells/(math.Exp(epsilon/2)+1)))
	free := cells - width
	// A cell inside has probability (1-L)/width, one outside L/free: the odds of
	// the truth may be width/free e^epsilon.
	lie := lieThreshold(epsilon, xmath.DivDown(width, free))
	// The mean of the cell, from the middle of the row, is the window's middle
	// times 1 - L - L width/free = 1 - L cells/free.
	gain := 1 - lieProbability(lie)*cells/free
	return window{uint64(width), lie, 2 / free / gain}
}

// randomize reports x in [-1, 1]. The window's place is rounded up or down at
// random so that its mean is exact.
func (w window) randomize(x float64, c coins) uint16 {
	place := (x + 1) / 2 * float64(cells-w.width)
	start := uint64(place) // 0 to cells-width
	if c.bernoulli(place - float64(start)) {
		start++
	}
	if !c.below(w.lie) {
		return uint16(start + c.uniform(w.width))
	}
	cell := c.uniform(cells - w.width)
	if cell >= start {
		cell += w.width
	}
	return uint16(cell)
}

func (w window) estimate(cell uint16) float64 {
	return (float64(cell) - (cells-1)/2.) * w.scale
}
