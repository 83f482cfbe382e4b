package ingest

import (
	"math"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// probTolerance is how far probabilities may miss their sum, and two columns of
// the same probability each other.
const probTolerance = 1e-6

// What is wrong with a probability above 1, and what to do.
const (
	aboveOne    = "is above 1 and no probability: are these percentages?"
	percentages = "divide percentages by 100 in the file, or mend the log"
	densities   = "; densities of continuous actions are another kind (density)"
)

// mostLikely is the largest value of a column of probabilities, or of densities.
func (s *Stream) mostLikely() float64 {
	if s.o.Densities {
		return math.MaxFloat64
	}
	return 1
}

// probability checks that a column lies in [low, 1], or holds densities from low on.
func (c *checker) probability(block int, low float64, remedy string) {
	if !c.s.bound.has(block) || c.s.sound[block] {
		return
	}
	most := c.s.mostLikely()
	for i, v := range c.s.values(block, c.lo, c.hi) {
		if v >= low && v <= most {
			continue
		}
		row, name := c.lo+i, c.s.name(block, 0)
		switch {
		case table.IsNull(v):
			c.absent(row, block, 0)
		case math.IsNaN(v) || math.IsInf(v, 0):
			c.notFinite(row, name, v)
		case v == 0:
			c.fault(row, name, "is zero for the logged action", remedy, trajectory.ErrValue)
		case c.s.o.Densities:
			c.fault(row, name, "is negative and no density", remedy, trajectory.ErrValue)
		case v > 1:
			c.fault(row, name, aboveOne, percentages+densities, trajectory.ErrValue)
		default:
			c.fault(row, name, "is not a probability", "probabilities lie between 0 and 1; "+remedy, trajectory.ErrValue)
		}
	}
}

// distribution checks the probabilities of all actions, and that the logged
// action's is the same in both places.
func (c *checker) distribution() {
	if !c.s.bound.has(blkProbs) {
		return
	}
	k := c.s.bound.width[blkProbs]
	values := c.s.values(blkProbs, c.lo, c.hi)
	both := c.s.bound.has(blkAction) && c.s.bound.has(blkBehavior)
	for i := 0; i*k < len(values); i++ {
		p, row := values[i*k:(i+1)*k], c.lo+i
		sum, least := 0.0, 0.0
		for _, v := range p {
			sum += v
			least = min(least, v)
		}
		if least < 0 || !(math.Abs(sum-1) <= probTolerance) {
			c.badDistribution(row, p)
		} else if both {
			c.agree(row, p)
		}
	}
}

// badDistribution says what is wrong with a distribution: its first bad entry, or
// the sum.
func (c *checker) badDistribution(row int, p []float64) {
	for j, v := range p {
		switch {
		case table.IsNull(v):
			c.absent(row, blkProbs, j)
		case !finite(v):
			c.notFinite(row, c.s.name(blkProbs, j), v)
		case v > 1:
			c.fault(row, c.s.name(blkProbs, j), aboveOne, percentages, trajectory.ErrValue)
		case v < 0:
			c.fault(row, c.s.name(blkProbs, j), "is not a probability", "probabilities lie between 0 and 1; mend the log", trajectory.ErrValue)
		default:
			continue
		}
		return
	}
	c.fault(row, c.s.name(blkProbs, 0), "the probabilities of the actions do not add up to 1 within 1e-6", "mend the log", trajectory.ErrValue)
}

// agree compares the probability of the logged action with behavior_prob. What is
// missing or beyond is left to the other checks.
func (c *checker) agree(row int, p []float64) {
	a, b := c.s.batch.Blocks[blkAction].Values[row], c.s.batch.Blocks[blkBehavior].Values[row]
	if !(a >= 0 && a < float64(len(p))) || table.IsNull(b) || math.Abs(p[int(a)]-b) <= probTolerance {
		return
	}
	c.fault(row, c.s.name(blkBehavior, 0), "differs from the logged action's entry in the probabilities of the actions", "mend the log, or leave out one of the two", trajectory.ErrValue)
}
