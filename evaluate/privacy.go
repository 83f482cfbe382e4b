package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Privacy asks for a guarantee.
type Privacy struct {
	// Unit is what is protected; "" means [Person]. The persons of the dataset must
	// be such units: see [trajectory.Options.Unit].
	Unit      Unit
	Adjacency dp.Adjacency
	Budget    dp.Budget
	// NoiseFamily is the law of the noise of a method that has several; "" leaves the
	// choice to the plan.
	NoiseFamily NoiseFamily
	// Fast has noise drawn as float64 normals: floating-point attacks are not excluded, and a
	// release made with it says so. Noise is exact by default.
	Fast bool
	// LargeDelta accepts a delta of 1/persons or more, which would allow a release
	// that publishes a person outright. It serves comparisons with papers that use
	// such a delta; the release says so.
	LargeDelta bool
}

// byLaplace tells that noise is Laplace where a method has a choice: it was asked for, or no delta was.
func (q *Privacy) byLaplace() bool {
	return q.NoiseFamily == LaplaceNoise || q.NoiseFamily == "" && q.Budget.Delta == 0
}

// noise is how the mechanisms draw.
func (q *Privacy) noise() mechanism.Noise {
	if q.Fast {
		return mechanism.Fast
	}
	return mechanism.Exact
}

// validatePrivacy checks what a guarantee needs of the public facts.
func (p Public) validatePrivacy() error {
	if !p.private() {
		return nil
	}
	q := p.Privacy
	if err := q.Unit.validate(); err != nil {
		return err
	}
	if !q.Adjacency.Valid() {
		return fmt.Errorf("%w: privacy.adjacency is %q; want replace_one or add_remove_one", ErrPublic, q.Adjacency)
	}
	if err := q.Budget.Validate(); err != nil {
		return err
	}
	if p.Horizon < 1 {
		return fmt.Errorf("%w: problem.horizon is missing; %s", ErrPublic,
			q.Unit.Words("give the largest number of decisions that a person contributes"))
	}
	switch q.NoiseFamily {
	case "", GaussianNoise, LaplaceNoise, gaussianCells, gaussianSums:
	default:
		return fmt.Errorf("%w: privacy.noise_family is %q; want auto, gaussian or laplace", ErrPublic, string(q.NoiseFamily))
	}
	if p.Outcome == nil && !(p.Reward.Width() > 0) && p.Return == nil {
		return fmt.Errorf("%w: problem.reward is missing or a single point; give the public range {min, max} of one reward", ErrPublic)
	}
	if r := p.Returns(); !(r.Width() >= smallestWidth && max(-r.Min, r.Max) <= largestReturn) {
		return fmt.Errorf("%w: returns lie in [%v, %v]; want a range at least %g wide and no return above %g in size: choose another unit of reward",
			ErrPublic, r.Min, r.Max, smallestWidth, largestReturn)
	}
	if p.Persons < 1 {
		return fmt.Errorf("%w: problem.persons is missing; %s (under add_remove_one: a public lower bound on it)", ErrPublic, q.Unit.Words("give the number of persons"))
	}
	if p.largeDelta() && !q.LargeDelta {
		return fmt.Errorf("%w: delta %v is not below 1/%ss = 1/%d: such a delta allows a release that publishes one %[3]s outright; choose delta well below it",
			dp.ErrBudget, q.Budget.Delta, q.Unit, p.Persons)
	}
	return nil
}

// largeDelta tells of a delta that would allow a release which publishes one
// person outright.
func (p Public) largeDelta() bool { return p.guarantee().Budget.Delta >= 1/float64(p.Persons) }
