package config

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
)

// clipped refuses a mechanism whose clip is missing, with what the clip bounds and
// a value to begin with.
func (p protection) clipped() error {
	if p.Clip != 0 {
		return nil
	}
	hint := ""
	switch p.Mechanism {
	case train.Laplace:
		hint = "it bounds the l1 norm of a gradient by half of it; 0.01 is what Ono and Takahashi (2020) use"
	case train.PRS:
		hint = "it bounds a projection of the gradient; 1 is a beginning"
	case train.Ball:
		hint = "it bounds the l2 norm of a gradient; 1 is a beginning"
	case train.Piecewise, train.Hybrid:
		hint = "it bounds each coordinate of a gradient; 1 is a beginning"
	case train.OneBit:
		hint = "scores lie in [0, clip]; the longest episode's score, such as 200 for cart-pole"
	default:
		return nil
	}
	return fmt.Errorf("%w: privacy.clip is missing, which mechanism %s needs: %s", ErrSyntax, p.Mechanism, hint)
}

// attainable refuses a threshold that no agent, or every one, reaches.
func (t Train) attainable(spec sim.Spec) error {
	if t.Success == nil {
		return nil
	}
	longest := float64(spec.MaxSteps)
	if n := float64(t.Environment.MaxSteps); n > 0 && (n < longest || t.Environment.Name != "cart-pole") {
		longest = n
	}
	least, most := 1., longest // of a step each
	if t.Environment.Name == "mountain-car" {
		least, most = -longest, -1
	}
	if x := t.Success.Threshold; !(x > least && x <= most) {
		return fmt.Errorf("%w: success.threshold is %v; scores of %s lie in %v to %v here, so that it would say nothing", ErrSyntax, x, t.Environment.Name, least, most)
	}
	return nil
}
