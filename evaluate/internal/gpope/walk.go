package gpope

import (
	"context"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// Walk holds every setting of a walk, all of it from public facts.
type Walk struct {
	Public     facts.Public
	Scheme     Scheme
	N          int  // features
	OneHot     bool // features
	Iterations int64
	Clip       float64
	// StepTheta and StepW are the step sizes in scaled coordinates, and Schedule
	// multiplies both.
	StepTheta, StepW float64
	Schedule         Schedule
	// Momentum is the share of the last step that is repeated, in [0, 1).
	Momentum float64
	// Average releases the mean of the second half of the iterates, Project keeps
	// every value in the public range of a return.
	Average, Project bool
	Start            float64   // of every component of theta
	Scale            []float64 // by coordinate: theta = scale * iterate
	Weighting        value.Weighting
	Shrink           float64 // what gradients are multiplied by before clipping
	Multiplier       float64 // noise over clip
}

// Schedule multiplies both step sizes.
type Schedule struct {
	Name      string
	Constant  float64 // for constant and polynomial
	LambdaMin float64 // for diminishing
}

// factor is what step i, counted from 1, is multiplied by.
func (s Schedule) factor(i int64) float64 {
	if s.LambdaMin > 0 {
		return 1 / (s.LambdaMin * float64(i))
	}
	return s.Constant
}

// Event describes all steps at a noise multiplier.
func (r *Walk) Event(multiplier float64) dp.Event {
	step := r.Scheme.Event(r.Public.Persons, dp.Gaussian{NoiseMultiplier: multiplier})
	return dp.SelfComposed{Count: r.Iterations, Event: step}
}

// StepSum makes the mechanism, which also tells whether its parameters are in
// range.
func (r *Walk) StepSum() (*mechanism.StepSum, error) {
	return mechanism.NewStepSum(2*r.N, r.Clip, r.Multiplier, r.Iterations, r.Public.Noise)
}

// On binds the walk to data. What it returns takes all steps and returns theta;
// noise is drawn lazily where that has the exact law.
func (r *Walk) On(s *value.Sample) func(ctx context.Context, src *noise.Source) ([]float64, error) {
	if r.lazyAllowed() {
		return r.lazy(s)
	}
	return r.eager(s)
}

// run takes all steps and returns theta.
type run func(ctx context.Context, src *noise.Source) ([]float64, error)

// checkEvery is how many steps are taken between two looks at the context.
const checkEvery = 64

// eager draws all noise in its step.
func (r *Walk) eager(s *value.Sample) run {
	people := r.newGradients(s)
	pick := r.Scheme.picker(s.Data.Persons())
	return func(ctx context.Context, src *noise.Source) ([]float64, error) {
		sum, err := r.StepSum()
		if err != nil {
			return nil, err
		}
		x := r.newIterate()
		noisy := make([]float64, 2*r.N)
		for i := int64(1); i <= r.Iterations; i++ {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			x.unscaled()
			for _, person := range pick(src) {
				if err := people.add(sum, x.theta, x.w, int(person)); err != nil {
					return nil, err
				}
			}
			if err := sum.Release(noisy, src); err != nil {
				return nil, err
			}
			x.step(noisy, i)
		}
		return x.result(), nil
	}
}
