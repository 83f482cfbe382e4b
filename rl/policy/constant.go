package policy

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Constant chooses one action in every state.
type Constant struct{ action int }

// NewConstant returns the policy that always chooses action.
func NewConstant(action int) (Constant, error) {
	if action < 0 || action >= maxActions {
		return Constant{}, fmt.Errorf("%w: constant: action is %d; want 0 to %d", ErrPolicy, action, maxActions-1)
	}
	return Constant{action}, nil
}

// Actions is one more than the chosen action, the fewest there can be.
func (c Constant) Actions() int { return c.action + 1 }

// MaxProb is 1.
func (c Constant) MaxProb() float64 { return 1 }

// Bind implements [Policy].
func (c Constant) Bind(d *trajectory.Dataset) (Bound, error) {
	if err := needActions(d); err != nil {
		return nil, err
	}
	return boundConstant{c, d.Action}, nil
}

type boundConstant struct {
	Constant
	logged []int32
}

func (b boundConstant) Prob(row int) (float64, bool) {
	switch a := b.logged[row]; {
	case a < 0:
		return 0, false
	case int(a) == b.action:
		return 1, true
	}
	return 0, true
}

func (b boundConstant) Distribution(dst []float64, _ int) bool {
	clear(dst)
	dst[b.action] = 1
	return true
}
