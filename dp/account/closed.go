package account

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// closedForm is the accountant that needs no numerical composition: any tree of
// Gaussian events (one Gaussian of the summed mu^2), or one run of a single
// Laplace, discrete Laplace, randomised-response, smooth Gaussian, shuffled, pure,
// (epsilon, delta) event, choice among candidates, or one that states its losses. Its brackets enclose the exact privacy profile and are a few
// roundings wide (for a smooth Gaussian: as wide as its integral is certain; for a shuffle: an
// upper bound alone).
// Everything else is refused with [ErrUnsupported].
type closedForm struct {
	adj    dp.Adjacency
	square Bracket       // mu^2 of the Gaussian events so far
	single *eventProfile // the one event that is not Gaussian
	known  discreteCache
}

// eventProfile is the privacy profile of one event.
type eventProfile struct {
	event dp.Event
	delta func(epsilon float64) Bracket
	most  float64 // an epsilon at which delta has reached its floor
	floor float64 // delta there and beyond
	// smooth, where it is set, answers in place of the fields above.
	smooth *dp.SmoothGaussian
}

// NewClosedForm returns the accountant that needs no numerical composition, to which nothing
// is charged yet: Gaussian noise, however often it is composed, and single events that have
// a closed form. What has none is refused with [ErrUnsupported].
func NewClosedForm(adj dp.Adjacency) Accountant { return newClosedForm(adj) }

func newClosedForm(adj dp.Adjacency) *closedForm {
	return &closedForm{adj: adj, known: discreteCache{}}
}

// String implements [Accountant].
func (c *closedForm) String() string { return "closed_form" }

// Adjacency implements [Accountant].
func (c *closedForm) Adjacency() dp.Adjacency { return c.adj }

// Compose implements [Accountant].
func (c *closedForm) Compose(ctx context.Context, event dp.Event, count int64) error {
	if err := checkCompose(c.adj, event, count); err != nil {
		return err
	}
	next := *c
	err := leaves(event, count, func(leaf dp.Event, n int64) error { return next.add(ctx, leaf, n) })
	if err != nil {
		return err
	}
	*c = next
	return nil
}

func (c *closedForm) add(ctx context.Context, leaf dp.Event, n int64) error {
	if err := defined(c.adj, leaf); err != nil {
		return err
	}
	if err := declared(leaf); err != nil {
		return err
	}
	if square, ok := muSquare(c.adj, leaf, n); ok && c.single == nil {
		c.square = sum(c.square, square)
		return nil
	}
	p := singleProfile(c.adj, leaf)
	if e, ok := leaf.(dp.DiscreteGaussian); ok {
		d := c.known.of(c.adj, e)
		if d.square.Upper > 0 && c.single == nil {
			c.square = sum(c.square, runs(d.square, n))
			return nil
		}
		if d.shifts != nil && n == 1 && c.single == nil && c.square.Upper == 0 {
			var err error
			if p, err = d.profile(ctx, c.adj, e); err != nil {
				return err
			}
		}
	}
	switch {
	case c.single != nil:
		return unsupported(c.single.event, "composed with another event has no closed form; "+composedRemedy(c.single.event))
	case p == nil:
		return unsupported(leaf, "has no closed form here; New turns to loss distributions, or to Renyi divergences, where they are known")
	case n != 1 || c.square.Upper > 0:
		return unsupported(leaf, "has no closed form when composed; "+composedRemedy(leaf))
	case !finite(p.most):
		return fmt.Errorf("%w: %s: its largest privacy loss exceeds every float64; it needs more noise", ErrUncertified, leaf.Kind())
	}
	c.single = p
	return nil
}

func composedRemedy(leaf dp.Event) string {
	switch leaf.(type) {
	case dp.SmoothGaussian, dp.Shuffled:
		return smoothRemedy
	}
	return "New turns to loss distributions"
}

func singleProfile(adj dp.Adjacency, leaf dp.Event) *eventProfile {
	switch e := leaf.(type) {
	case dp.Laplace:
		return laplaceProfile(e, adj.SumSensitivity(1))
	case dp.DiscreteLaplace:
		return discreteLaplaceProfile(e, integerGap(adj, e.Norm))
	case dp.RandomizedResponse:
		return responseProfile(e)
	case dp.ApproximateDP:
		return approximateProfile(e)
	case dp.PureDP, dp.PermuteAndFlip, dp.ReportNoisyMax:
		epsilon, _ := pureLoss(leaf)
		return pureProfile(leaf, epsilon)
	case dp.Exponential:
		return boundedRangeProfile(e)
	case dp.PrivacyLoss:
		return givenProfile(e)
	case dp.SmoothGaussian:
		return &eventProfile{event: e, smooth: &e}
	case dp.Shuffled:
		return shuffledProfile(e)
	}
	return nil
}

// Delta implements [Accountant].
func (c *closedForm) Delta(ctx context.Context, epsilon float64) (Bracket, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Bracket{}, err
	}
	return certain(c.delta(ctx, epsilon))
}

func (c *closedForm) delta(ctx context.Context, epsilon float64) (Bracket, error) {
	if c.single != nil {
		if e := c.single.smooth; e != nil {
			return smoothGaussianDelta(ctx, e.Alpha, e.Beta, e.Dimension, epsilon)
		}
		return c.single.delta(epsilon), nil
	}
	mu := squareRoot(c.square)
	return Bracket{GaussianDelta(mu.Lower, epsilon).Lower, GaussianDelta(mu.Upper, epsilon).Upper}, nil
}

// Epsilon implements [Accountant]. A delta that no epsilon reaches, such as 0
// for Gaussian noise, is refused.
func (c *closedForm) Epsilon(ctx context.Context, delta float64) (Bracket, error) {
	if err := checkDelta(delta); err != nil {
		return Bracket{}, err
	}
	return certain(c.epsilon(ctx, delta))
}

func (c *closedForm) epsilon(ctx context.Context, delta float64) (Bracket, error) {
	if c.single != nil {
		return c.single.epsilon(ctx, delta)
	}
	mu := squareRoot(c.square)
	switch {
	case c.square.Upper == 0:
		return Bracket{}, nil
	case math.IsInf(mu.Upper, 1):
		return Bracket{}, fmt.Errorf("%w: the summed mu^2 exceeds every float64; the events need more noise", ErrUncertified)
	}
	low, err := GaussianEpsilon(mu.Lower, delta)
	if err != nil {
		return Bracket{}, err
	}
	high, err := GaussianEpsilon(mu.Upper, delta)
	return Bracket{low.Lower, high.Upper}, err
}

// epsilon inverts the profile by bisection on certain comparisons.
func (p *eventProfile) epsilon(ctx context.Context, delta float64) (Bracket, error) {
	if e := p.smooth; e != nil {
		return smoothGaussianEpsilon(ctx, e.Alpha, e.Beta, e.Dimension, delta)
	}
	if delta < p.floor {
		return Bracket{}, fmt.Errorf("%w: delta is %v; no epsilon holds for %s below delta %v", dp.ErrBudget, delta, p.event.Kind(), p.floor)
	}
	upper := bisect(p.most, func(epsilon float64) bool { return ctx.Err() != nil || p.delta(epsilon).Upper <= delta })
	lower := bisect(upper, func(epsilon float64) bool { return ctx.Err() != nil || p.delta(epsilon).Lower <= delta })
	if err := ctx.Err(); err != nil {
		return Bracket{}, err
	}
	// The float64 below lower certainly fails, so the root lies above it.
	return Bracket{max(xmath.Down(lower, 1), 0), upper}, nil
}

// bisect returns the smallest float64 in [0, high] from which on met holds,
// given that it holds at high and is monotone.
func bisect(high float64, met func(x float64) bool) float64 {
	if met(0) {
		return 0
	}
	// Non-negative float64s are ordered as their bits are.
	low, up := uint64(0), math.Float64bits(high)
	for up-low > 1 {
		mid := low + (up-low)/2
		if met(math.Float64frombits(mid)) {
			up = mid
		} else {
			low = mid
		}
	}
	return math.Float64frombits(up)
}
