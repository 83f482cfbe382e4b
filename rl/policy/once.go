package policy

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Once is a behaviour policy that draws once an episode, such as the arm of a
// trial, and is recorded in the data: the column behavior_prob holds the probability
// of the draw on the first row, whatever later rows repeat of it, and later
// decisions follow from the draw with probability 1.
type Once struct{}

// Actions is 0: the column does not say.
func (Once) Actions() int { return 0 }

// MaxProb is 1.
func (Once) MaxProb() float64 { return 1 }

// Bind implements [Policy].
func (Once) Bind(d *trajectory.Dataset) (Bound, error) {
	if d.BehaviorProb == nil {
		return nil, fmt.Errorf("%w: behavior_prob: it holds the probability of what was drawn once; map the column, or give the design by another kind", ErrMissing)
	}
	return boundOnce{d, d.BehaviorProb}, nil
}

type boundOnce struct {
	d    *trajectory.Dataset
	prob []float64
}

func (b boundOnce) Actions() int { return 0 }

func (b boundOnce) Prob(row int) (float64, bool) {
	if decision(b.d, row) > 0 {
		return 1, true
	}
	return probability(b.prob[row])
}

func (b boundOnce) Distribution(dst []float64, _ int) bool {
	clear(dst)
	return false
}
