package yamlfile

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
)

// clipped refuses a mechanism whose clip is missing, with what the clip bounds and
// a value to begin with.
func (p protection) clipped() error {
	switch {
	case p.Clip != 0 && p.Mechanism == train.OneBit:
		return fmt.Errorf("%w: privacy.clip is %v; the range of scores that %s reports on follows from the environment: remove it", ErrSyntax, p.Clip, p.Mechanism)
	case p.Clip != 0:
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
	r, err := t.scores(spec)
	if err != nil {
		return err
	}
	if x := t.Success.Threshold; !(x > r.Low && x <= r.High) {
		return fmt.Errorf("%w: success.threshold is %v; scores of %s lie in %v to %v here, so that it would say nothing", ErrSyntax, x, t.Environment.Name, r.Low, r.High)
	}
	return nil
}

// scores is the range of an episode's score, from the bounds that the environment states for a reward and
// the longest episode.
func (t Train) scores(spec sim.Spec) (sim.Range, error) {
	r, known := spec.Scores(or(t.Environment.MaxSteps, spec.MaxSteps))
	if !known {
		return r, fmt.Errorf("%w: %s states no bounds for its rewards, so that the range of scores is not known", ErrSyntax, t.Environment.Name)
	}
	return r, nil
}
