package policy

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// maxActions bounds the number of actions, so that a mistyped number is an
// error and not an exhausted memory.
const maxActions = 1 << 24

// Uniform chooses each of K actions with probability 1/K in every state.
type Uniform struct{ actions int }

// NewUniform returns the uniform policy over actions 0 to actions-1.
func NewUniform(actions int) (Uniform, error) {
	if actions < 1 || actions > maxActions {
		return Uniform{}, fmt.Errorf("%w: uniform: actions is %d; want 1 to %d", ErrPolicy, actions, maxActions)
	}
	return Uniform{actions}, nil
}

// Actions is K.
func (u Uniform) Actions() int { return u.actions }

// MaxProb is 1/K.
func (u Uniform) MaxProb() float64 { return 1 / float64(u.actions) }

// Bind implements [Policy].
func (u Uniform) Bind(d *trajectory.Dataset) (Bound, error) {
	if err := needActions(d); err != nil {
		return nil, err
	}
	return boundUniform{u, d.Action}, nil
}

type boundUniform struct {
	Uniform
	action []int32
}

func (b boundUniform) Prob(row int) (float64, bool) {
	if a := b.action[row]; a < 0 || int(a) >= b.actions {
		return 0, false
	}
	return 1 / float64(b.actions), true
}

func (b boundUniform) Distribution(dst []float64, _ int) bool {
	clear(dst)
	for a := range dst[:b.actions] {
		dst[a] = 1 / float64(b.actions)
	}
	return true
}
