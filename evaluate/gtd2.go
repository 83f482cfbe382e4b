package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/value"
)

// GTD2 is gradient temporal-difference learning, without privacy ([value.GTD2]):
// what [GPOPE] does with noise. Its iterates are averaged over the second half.
type GTD2 struct {
	// Steps is the number of steps, one person each. 0 means 1000000.
	Steps int `json:"steps,omitempty"`
	// StepTheta and StepW are the step sizes. 0 means a tenth of the number of
	// features over the square of their norm bound.
	StepTheta float64 `json:"step_theta,omitempty"`
	StepW     float64 `json:"step_w,omitempty"`
	// Weighting is "transition" (the default) or "trajectory".
	Weighting string `json:"weighting,omitempty"`
	// Length is the number of transitions of a typical trajectory, by which the
	// default steps of weighting "transition" are divided. 0 means 1/(1-gamma).
	Length float64 `json:"length,omitempty"`
	// Seed chooses the persons of the steps.
	Seed uint64 `json:"seed,omitempty"`
}

// Plan implements [Estimator].
func (m GTD2) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
	weighting, err := weightingNamed("gtd2", m.Weighting)
	if err != nil {
		return nil, err
	}
	if p.Features == nil {
		return nil, fmt.Errorf("%w: gtd2 needs features", ErrPublic)
	}
	if m.Steps < 0 || m.StepTheta < 0 || m.StepW < 0 || m.Length < 0 {
		return nil, fmt.Errorf("%w: gtd2: steps, step sizes and length must not be negative", ErrMethod)
	}
	if m.Steps == 0 {
		m.Steps = defaultSteps
	}
	scale := evenScale(p.Features)
	step := 0.1 * scale * scale
	if weighting == value.ByTransition {
		length := 100.0
		if p.Gamma < 1 {
			length = 1 / (1 - p.Gamma)
		}
		step /= positiveOr(m.Length, length)
	}
	solver := value.GTD2{
		Steps: m.Steps, StepTheta: positiveOr(m.StepTheta, step), StepW: positiveOr(m.StepW, step),
		Weighting: weighting, Average: true,
	}
	return bootstrapping(reference("gtd2", p, func(s *value.Sample) (*Release, error) {
		theta, err := solver.SolveSeeded(s, m.Seed)
		return function(s, theta, err)
	}))
}
