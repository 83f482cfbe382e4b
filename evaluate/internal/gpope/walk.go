// Package gpope walks to the saddle point of gradient temporal-difference learning
// by noisy sums of clipped gradients of persons (Xie, Thomas and Miklau 2019). It
// works on public facts and on settings that were fixed before the data was seen;
// whoever calls it has accounted for its noise ([Walk.Event]).
//
// Start with [Walk]. Unit: a person. Clip: Walk.Clip, in l2, on a person's stacked
// gradient. Proof: docs/proofs/gpope.md.
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

// iterate is the position of the walk. All of it is post-processing of noisy
// sums.
type iterate struct {
	r        *Walk
	n        int
	x        []float64 // scaled theta, then scaled w
	velocity []float64 // nil without momentum
	mean     []float64 // of theta over the second half; nil without averaging
	theta, w []float64 // unscaled; they are x itself where every scale is 1
	scaled   bool
	from     int64 // the first step that is averaged
	low, top []float64
}

func (r *Walk) newIterate() *iterate {
	n := r.N
	x := &iterate{r: r, n: n, x: make([]float64, 2*n), from: r.Iterations/2 + 1}
	for j, s := range r.Scale {
		x.x[j] = r.Start / s
		x.scaled = x.scaled || s != 1
	}
	x.theta, x.w = x.x[:n], x.x[n:]
	if x.scaled {
		x.theta, x.w = make([]float64, n), make([]float64, n)
	}
	if r.Momentum > 0 {
		x.velocity = make([]float64, 2*n)
	}
	if r.Average {
		x.mean = make([]float64, n)
	}
	if r.Project {
		returns := r.Public.Returns
		x.low, x.top = make([]float64, n), make([]float64, n)
		for j, s := range r.Scale {
			x.low[j], x.top[j] = returns.Min/s, returns.Max/s
		}
	}
	return x
}

// unscaled brings theta and w up to date.
func (x *iterate) unscaled() {
	if !x.scaled {
		return
	}
	for j, s := range x.r.Scale {
		x.theta[j], x.w[j] = s*x.x[j], s*x.x[x.n+j]
	}
}

// step moves by a noisy sum of gradients, step i of N.
func (x *iterate) step(noisy []float64, i int64) {
	factor := x.r.Schedule.factor(i) / x.r.Scheme.Expected
	move := noisy
	if x.velocity != nil {
		for j, v := range noisy {
			x.velocity[j] = x.r.Momentum*x.velocity[j] + v
		}
		move = x.velocity
	}
	n := x.n
	rate := factor * x.r.StepTheta
	for j, v := range move[:n] {
		x.x[j] -= rate * v
	}
	rate = factor * x.r.StepW
	for j, v := range move[n:] {
		x.x[n+j] -= rate * v
	}
	for j := range x.low {
		x.x[j] = min(max(x.x[j], x.low[j]), x.top[j])
	}
	if x.mean != nil && i >= x.from {
		share := 1 / float64(i-x.from+1)
		for j := range x.mean {
			x.mean[j] += (x.x[j] - x.mean[j]) * share
		}
	}
}

// result is theta.
func (x *iterate) result() []float64 {
	out := make([]float64, x.n)
	from := x.x
	if x.mean != nil {
		from = x.mean
	}
	for j, s := range x.r.Scale {
		out[j] = s * from[j]
	}
	return out
}
