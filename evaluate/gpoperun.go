package evaluate

import (
	"context"

	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/value"
)

// run makes the draw: the walk, drawn lazily where that has the exact law.
func (r *gpope) run(s *value.Sample) draw {
	var walk walk
	if r.lazyAllowed() {
		walk = r.lazy(s)
	} else {
		walk = r.eager(s)
	}
	return func(ctx context.Context, src *noise.Source) (*Release, error) {
		theta, err := walk(ctx, src)
		if err != nil {
			return nil, err
		}
		release := &Release{Theta: theta}
		if f, ok := r.public.Features.(feature.Finite); ok {
			release.Values = statesOf(f, theta)
		}
		return release, nil
	}
}

// walk takes all steps and returns theta.
type walk func(ctx context.Context, src *noise.Source) ([]float64, error)

// checkEvery is how many steps are taken between two looks at the context.
const checkEvery = 64

// eager draws all noise in its step.
func (r *gpope) eager(s *value.Sample) walk {
	people := r.newGradients(s)
	pick := r.scheme.picker(s.Data.Persons())
	return func(ctx context.Context, src *noise.Source) ([]float64, error) {
		sum, err := r.steps()
		if err != nil {
			return nil, err
		}
		x := r.newIterate()
		noisy := make([]float64, 2*r.n)
		for i := int64(1); i <= r.iterations; i++ {
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

// iterate is the position of the walk. All of it is post-processing of noisy
// sums.
type iterate struct {
	r        *gpope
	n        int
	x        []float64 // scaled theta, then scaled w
	velocity []float64 // nil without momentum
	mean     []float64 // of theta over the second half; nil without averaging
	theta, w []float64 // unscaled; they are x itself where every scale is 1
	scaled   bool
	from     int64 // the first step that is averaged
	low, top []float64
}

func (r *gpope) newIterate() *iterate {
	n := r.n
	x := &iterate{r: r, n: n, x: make([]float64, 2*n), from: r.iterations/2 + 1}
	for j, s := range r.scale {
		x.x[j] = r.start / s
		x.scaled = x.scaled || s != 1
	}
	x.theta, x.w = x.x[:n], x.x[n:]
	if x.scaled {
		x.theta, x.w = make([]float64, n), make([]float64, n)
	}
	if r.momentum > 0 {
		x.velocity = make([]float64, 2*n)
	}
	if r.average {
		x.mean = make([]float64, n)
	}
	if r.project {
		returns := r.public.Returns()
		x.low, x.top = make([]float64, n), make([]float64, n)
		for j, s := range r.scale {
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
	for j, s := range x.r.scale {
		x.theta[j], x.w[j] = s*x.x[j], s*x.x[x.n+j]
	}
}

// step moves by a noisy sum of gradients, step i of N.
func (x *iterate) step(noisy []float64, i int64) {
	factor := x.r.schedule.factor(i) / x.r.scheme.expected
	move := noisy
	if x.velocity != nil {
		for j, v := range noisy {
			x.velocity[j] = x.r.momentum*x.velocity[j] + v
		}
		move = x.velocity
	}
	n := x.n
	rate := factor * x.r.stepTheta
	for j, v := range move[:n] {
		x.x[j] -= rate * v
	}
	rate = factor * x.r.stepW
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
	for j, s := range x.r.scale {
		out[j] = s * from[j]
	}
	return out
}

// lazyAllowed tells whether noise may be drawn when it is needed: continuous
// noise, one person a step, few coordinates each, and nothing that looks at all
// coordinates between the steps.
func (r *gpope) lazyAllowed() bool {
	return r.public.Privacy.Noise == mechanism.Fast && r.oneHot &&
		r.scheme.sampling == Uniform && r.scheme.batch == 1 &&
		r.schedule.lambdaMin == 0 && r.momentum == 0 && !r.average && !r.project
}

// lazy draws noise where a person's gradient reads it.
func (r *gpope) lazy(s *value.Sample) walk {
	people := newCellGradients(r, s)
	pick := r.scheme.picker(s.Data.Persons())
	return func(ctx context.Context, src *noise.Source) ([]float64, error) {
		start, rates := make([]float64, 2*r.n), make([]float64, 2*r.n)
		factor := r.schedule.factor(1)
		for j, s := range r.scale {
			start[j] = r.start / s
			rates[j], rates[r.n+j] = factor*r.stepTheta, factor*r.stepW
		}
		x, err := mechanism.NewLazyWalk(start, rates, r.clip, r.multiplier, r.iterations)
		if err != nil {
			return nil, err
		}
		for i := int64(1); i <= r.iterations; i++ {
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
		for j, s := range r.scale {
			final[j] *= s
		}
		return final[:r.n], nil
	}
}
