package policy

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ProbColumn is a target policy known only through its probability of the
// logged action, recorded in the data (the column target_prob). Its
// distribution over the other actions is unknown.
type ProbColumn struct {
	// Density says that actions are continuous, and that the columns of this policy and of the
	// one that made the data hold densities, which may be above 1. Only their ratio counts.
	Density bool
}

// Actions is 0: the column does not say.
func (ProbColumn) Actions() int { return 0 }

// MaxProb is 1, of a density no bound.
func (p ProbColumn) MaxProb() float64 {
	if p.Density {
		return math.Inf(1)
	}
	return 1
}

// Bind implements [Policy].
func (p ProbColumn) Bind(d *trajectory.Dataset) (Bound, error) {
	if d.TargetProb == nil {
		return nil, fmt.Errorf("%w: target_prob: the target policy is to be read from the data; map the column that holds its probability of the logged action, or give the policy by another kind", ErrMissing)
	}
	return boundColumn{d.TargetProb, p.MaxProb()}, nil
}

type boundColumn struct {
	prob []float64
	most float64
}

func (b boundColumn) Actions() int { return 0 }

func (b boundColumn) Prob(row int) (float64, bool) {
	if v := b.prob[row]; v >= 0 && v <= b.most && v <= math.MaxFloat64 {
		return v, true
	}
	return 0, false
}

func (b boundColumn) Distribution(dst []float64, _ int) bool {
	clear(dst)
	return false
}
