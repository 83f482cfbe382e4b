package policy

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// stepTolerance is how far the probabilities of all actions at one decision may be
// from adding up to 1.
const stepTolerance = 1e-9

// byStep is a policy whose probabilities depend on the number of the decision
// alone, such as the design of a trial: [[0.4, 0.6], [1]] is a trial that drew each
// episode's arm once, arm 1 with probability 0.6, and kept to it. It gives no
// distribution over the other actions.
type byStep struct {
	probs   [][]float64
	actions int
}

// NewByStep returns the policy whose probabilities at decision t of an episode,
// counted from 0, are probs[t]; the last entry holds for all later decisions. An
// entry of one number, in (0, 1], is the probability of the action that was taken,
// whichever it was. A longer one lists that of each action by its number: in [0, 1],
// adding up to 1 within 1e-9, as many in every such entry.
func NewByStep(probs [][]float64) (Policy, error) {
	if len(probs) == 0 {
		return nil, fmt.Errorf("%w: constant by step: no probabilities; give one a step, the last of which holds for all later steps", ErrPolicy)
	}
	p := byStep{}
	for t, at := range probs {
		switch {
		case len(at) == 0:
			return nil, fmt.Errorf("%w: constant by step: no probability at step %d", ErrPolicy, t)
		case len(at) == 1:
			if !(at[0] > 0 && at[0] <= 1) {
				return nil, fmt.Errorf("%w: constant by step: probability at step %d is %v; want above 0 and at most 1", ErrPolicy, t, at[0])
			}
		case p.actions != 0 && len(at) != p.actions:
			return nil, fmt.Errorf("%w: constant by step: %d probabilities at step %d and %d before; give one for each action", ErrPolicy, len(at), t, p.actions)
		default:
			p.actions = len(at)
			if err := checkStep(t, at); err != nil {
				return nil, err
			}
		}
		p.probs = append(p.probs, slices.Clone(at))
	}
	return p, nil
}

// checkStep wants a distribution over the actions.
func checkStep(t int, probs []float64) error {
	sum := 0.0
	for a, p := range probs {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("%w: constant by step: probability of action %d at step %d is %v; want 0 to 1", ErrPolicy, a, t, p)
		}
		sum += p
	}
	if math.Abs(sum-1) > stepTolerance {
		return fmt.Errorf("%w: constant by step: the probabilities at step %d add up to %v; want 1: list one for each action", ErrPolicy, t, sum)
	}
	return nil
}

// Actions is the number of actions where a step lists them, else 0.
func (p byStep) Actions() int { return p.actions }

// MaxProb is the largest of the probabilities.
func (p byStep) MaxProb() float64 { return slices.Max(slices.Concat(p.probs...)) }

// Bind implements [Policy].
func (p byStep) Bind(d *trajectory.Dataset) (Bound, error) {
	if p.actions > 0 {
		if err := needActions(d); err != nil {
			return nil, err
		}
	}
	return boundByStep{p.probs, d}, nil
}

type boundByStep struct {
	probs [][]float64
	d     *trajectory.Dataset
}

func (b boundByStep) Actions() int { return 0 }

func (b boundByStep) Prob(row int) (float64, bool) {
	at := b.probs[min(decision(b.d, row), len(b.probs)-1)]
	if len(at) == 1 {
		return at[0], true
	}
	a := b.d.Action[row]
	if a < 0 || int(a) >= len(at) {
		return 0, false
	}
	return at[a], true
}

// decision is the number of a row in its episode, from 0. The episode that holds the
// row is the last to begin at or before it.
func decision(d *trajectory.Dataset, row int) int {
	return row - d.EpisodeStart[sort.SearchInts(d.EpisodeStart, row+1)-1]
}

func (b boundByStep) Distribution(dst []float64, _ int) bool {
	clear(dst)
	return false
}
