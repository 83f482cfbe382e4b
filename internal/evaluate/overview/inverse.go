package overview

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// inverse holds the logged probabilities against the logged actions, whatever the target
// policy. A decision with action k counts as 1/p, any other as 0: given what came before,
// that has mean 1 where the behaviour policy may take k, and 0 elsewhere (Horvitz and
// Thompson 1952). So, but for chance, an action makes at most as many decisions as there
// are, and all K actions at most K times as many. Probabilities of another action, or of
// another time, make more. Less is no fault: an action need not always be possible.
//
// Less the mean, these are differences of a martingale, whose variance is the sum of those
// of its steps: episodes and persons need not be told apart. Sums are integers, so that
// they do not depend on how data are parted.
type inverse struct {
	decisions int64
	actions   [mostActions]inverseSums
	beyond    bool // there are actions that have no place
}

// inverseSums are those of the decisions with one action.
type inverseSums struct {
	count    int64 // of 1/p, in 1/2^countBits
	variance int64 // of (1/p)(1/p-1), in 1/2^varianceBits
}

const (
	// firstDecisions of an episode are looked at, so that long episodes cost no more.
	firstDecisions = 16
	// mostInverse bounds 1/p, to the side of no warning, so that 2^35 decisions have room.
	mostInverse             = 1 << 8
	countBits, varianceBits = 16, 12
)

// add looks at decisions that have these probabilities.
func (v *inverse) add(d *trajectory.Dataset, prob []float64) {
	p := math.NaN() // of the decision before, as of most, with what it gives
	var count, variance int64
	for e := range d.Episodes() {
		lo := d.EpisodeStart[e]
		hi := min(d.EpisodeStart[e+1], lo+firstDecisions)
		probs := prob[lo:hi]
		for i, a := range d.Action[lo:hi] {
			if a < 0 { // unknown
				continue
			}
			v.decisions++
			if a >= mostActions {
				v.beyond = true
				continue
			}
			if probs[i] != p {
				p = probs[i]
				c := min(1/p, mostInverse)
				count, variance = int64(c*(1<<countBits)), int64(math.Ceil(c*(c-1)*(1<<varianceBits)))
			}
			v.actions[a].count += count
			v.actions[a].variance += variance
		}
	}
}

// merge adds other decisions.
func (v *inverse) merge(o *inverse) {
	v.decisions += o.decisions
	v.beyond = v.beyond || o.beyond
	for a, s := range o.actions {
		v.actions[a].count += s.count
		v.actions[a].variance += s.variance
	}
}

// warnings says what makes more decisions than it can.
func (v *inverse) warnings(name func(action int) string) []string {
	var told []string
	taken, all, squares := 0, 0.0, 0.0
	n := float64(v.decisions)
	for a, s := range v.actions {
		if s.count == 0 {
			continue
		}
		count, variance := float64(s.count)/(1<<countBits), float64(s.variance)/(1<<varianceBits)
		taken++
		all += count
		squares += variance + count
		if more := (count - n) / n; count-n > suspicious*math.Sqrt(variance) && more > leastExcess {
			told = append(told, inverseWarning("the decisions with action "+name(a), 1+more, 1, math.Sqrt(variance)/n))
		}
	}
	if taken < 2 || v.beyond {
		return told
	}
	// The variance of the differences as they are, or that of 1/p where every action is
	// possible, whichever is larger: few decisions may all be alike.
	most := float64(taken)
	mean := all / n
	sd := math.Sqrt(max(squares/n-mean*mean, squares/n-most*most, 0) / n)
	if mean-most > suspicious*sd && mean-most > leastExcess {
		told = append(told, inverseWarning(fmt.Sprintf("the decisions with %d actions", taken), mean, most, sd))
	}
	return told
}

// leastExcess is what integers leave out, and more.
const leastExcess = 1e-3

func inverseWarning(what string, makes, most, sd float64) string {
	return fmt.Sprintf("%s, each counted as 1 over its behaviour probability, add up to %.4g times the number of decisions, but by the probabilities this is expected to be at most %.4g (standard error %.2g): the probabilities do not fit the logged actions; perhaps they are those of another action or of another time",
		what, makes, most, sd)
}
