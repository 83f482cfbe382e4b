package gpope

import (
	"context"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// lazyAllowed tells whether noise may be drawn when it is needed: continuous
// noise, one person a step, few coordinates each, and nothing that looks at all
// coordinates between the steps.
func (r *Walk) lazyAllowed() bool {
	return r.Public.Noise == mechanism.Fast && r.OneHot &&
		r.Scheme.Sampling == Uniform && r.Scheme.batch == 1 &&
		r.Schedule.LambdaMin == 0 && r.Momentum == 0 && !r.Average && !r.Project
}

// lazy draws noise where a person's gradient reads it.
func (r *Walk) lazy(s *value.Sample) run {
	people := newCellGradients(r, s)
	pick := r.Scheme.picker(s.Data.Persons())
	return func(ctx context.Context, src *noise.Source) ([]float64, error) {
		start, rates := make([]float64, 2*r.N), make([]float64, 2*r.N)
		factor := r.Schedule.factor(1)
		for j, s := range r.Scale {
			start[j] = r.Start / s
			rates[j], rates[r.N+j] = factor*r.StepTheta, factor*r.StepW
		}
		x, err := mechanism.NewLazyWalk(start, rates, r.Clip, r.Multiplier, r.Iterations)
		if err != nil {
			return nil, err
		}
		for i := int64(1); i <= r.Iterations; i++ {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err := people.move(x, int(pick(src)[0]), src); err != nil {
				return nil, err
			}
		}
		final, err := x.Finish(src)
		if err != nil {
			return nil, err
		}
		for j, s := range r.Scale {
			final[j] *= s
		}
		return final[:r.N], nil
	}
}
