package policy

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ProbColumn is a target policy known only through its probability of the
// logged action, recorded in the data (the column target_prob). Its
// distribution over the other actions is unknown.
type ProbColumn struct{}

// Actions is 0: the column does not say.
func (ProbColumn) Actions() int { return 0 }

// MaxProb is 1.
func (ProbColumn) MaxProb() float64 { return 1 }

// Bind implements [Policy].
func (ProbColumn) Bind(d *trajectory.Dataset) (Bound, error) {
	if d.TargetProb == nil {
		return nil, fmt.Errorf("%w: target_prob: the target policy is to be read from the data; map the column that holds its probability of the logged action, or give the policy by another kind", ErrMissing)
	}
	return boundColumn{d.TargetProb}, nil
}

type boundColumn struct{ prob []float64 }

func (b boundColumn) Actions() int { return 0 }

func (b boundColumn) Prob(row int) (float64, bool) { return probability(b.prob[row]) }

func (b boundColumn) Distribution(dst []float64, _ int) bool {
	clear(dst)
	return false
}
