package policy

import (
	"fmt"
	"slices"
	"sort"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ByStep is a policy whose probability of the logged action depends on the number
// of the decision alone, such as the design of a trial: [0.5, 1] is a trial that
// randomised each episode once between two arms of equal size, and kept to its
// choice. It knows no distribution over the other actions.
type ByStep struct{ probs []float64 }

// NewByStep returns the policy whose probability of the action that was taken at
// decision t of an episode, counted from 0, is probs[t]. The last one holds for
// all later decisions. Each lies in (0, 1].
func NewByStep(probs []float64) (ByStep, error) {
	if len(probs) == 0 {
		return ByStep{}, fmt.Errorf("%w: constant by step: no probabilities; give one a step, the last of which holds for all later steps", ErrPolicy)
	}
	for t, p := range probs {
		if !(p > 0 && p <= 1) {
			return ByStep{}, fmt.Errorf("%w: constant by step: probability at step %d is %v; want above 0 and at most 1", ErrPolicy, t, p)
		}
	}
	return ByStep{slices.Clone(probs)}, nil
}

// Actions is 0: the policy does not say.
func (ByStep) Actions() int { return 0 }

// MaxProb is the largest of the probabilities.
func (p ByStep) MaxProb() float64 { return slices.Max(p.probs) }

// MinProb is the smallest of the probabilities.
func (p ByStep) MinProb() float64 { return slices.Min(p.probs) }

// Bind implements [Policy].
func (p ByStep) Bind(d *trajectory.Dataset) (Bound, error) {
	return boundByStep{p.probs, d.EpisodeStart}, nil
}

type boundByStep struct {
	probs []float64
	start []int // first row of every episode, in order
}

func (b boundByStep) Actions() int { return 0 }

func (b boundByStep) Prob(row int) (float64, bool) {
	// The episode that holds the row is the last to begin at or before it.
	e := sort.SearchInts(b.start, row+1) - 1
	p := b.probs[min(row-b.start[e], len(b.probs)-1)]
	return p, true
}

func (b boundByStep) Distribution(dst []float64, _ int) bool {
	clear(dst)
	return false
}
