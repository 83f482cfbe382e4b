package account

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account/internal/lossdist"
)

// view is one way to bound the composition: which of two neighbours comes first,
// and whether the pairs used are those that neighbours can realise or those that
// are only proven to dominate.
type view int

const (
	// forward: the first dataset holds the person (under replace_one: the record
	// that stands out).
	forward view = iota
	// backward: the second one does.
	backward
	// symmetric pairs serve both orders at once.
	exact
	proven
	forwardOnly
	backwardOnly
)

// realised reports that neighbours can reach what the view bounds from below.
func (v view) realised() bool { return v != proven }

// dominates reports that the view's upper bound holds for the events.
func (v view) dominates() bool { return v != forwardOnly && v != backwardOnly }

func (v view) reversed() bool { return v == backward || v == backwardOnly }

// kind of view that an event needs.
type kind int

const (
	balanced  kind = iota // a symmetric pair, tight for both orders
	oriented              // a tight pair for each order
	dominated             // a symmetric pair that dominates, and others that are realised
)

// allViews lists the views that all events together need.
func (p *PLD) allViews() []view {
	need := balanced
	for _, e := range p.events {
		k, err := p.views(e.event)
		if err == nil {
			need = max(need, k)
		}
	}
	switch need {
	case oriented:
		return []view{forward, backward}
	case dominated:
		return []view{proven, forwardOnly, backwardOnly}
	}
	return []view{exact}
}

// views says what views a reduced leaf needs, or refuses it.
func (p *PLD) views(leaf dp.Event) (kind, error) {
	if err := onlyReplace(p.adj, leaf); err != nil {
		return 0, err
	}
	switch e := leaf.(type) {
	case dp.PoissonSampled:
		if _, err := baseLaw(p.adj, e.Event); err != nil {
			return 0, err
		}
		if err := onlyReplace(p.adj, e.Event); err != nil {
			return 0, err
		}
		if p.adj == dp.AddRemoveOne {
			return oriented, nil
		}
		switch e.Event.(type) {
		case dp.Gaussian:
			return balanced, nil
		case dp.RandomizedResponse, dp.ApproximateDP:
			return 0, unsupported(e, "of "+e.Event.Kind()+" under replace_one: nothing is known of samples of different sizes; account for it under add_remove_one, or without the sampling")
		}
		return dominated, nil
	case dp.SampledWithoutReplacement:
		_, err := baseLaw(p.adj, e.Event)
		return dominated, err
	case dp.Gaussian:
		return balanced, nil
	}
	_, err := baseLaw(p.adj, leaf)
	return balanced, err
}

// reduce replaces a sampled event by a simpler one that is the same mechanism.
func reduce(leaf dp.Event) (dp.Event, error) {
	switch e := leaf.(type) {
	case dp.PoissonSampled:
		inner, err := single(e.Event, leaf)
		if err != nil {
			return nil, err
		}
		if nested, ok := inner.(dp.PoissonSampled); ok {
			// Who is in both samples is in one of the product of the rates.
			return reduce(dp.PoissonSampled{Rate: e.Rate * nested.Rate, Event: nested.Event})
		}
		return dp.PoissonSampled{Rate: e.Rate, Event: inner}, nil
	case dp.SampledWithoutReplacement:
		inner, err := single(e.Event, leaf)
		if err != nil || e.Sample == e.Population {
			return inner, err
		}
		if nested, ok := inner.(dp.SampledWithoutReplacement); ok && nested.Population == e.Sample {
			return reduce(dp.SampledWithoutReplacement{Population: e.Population, Sample: nested.Sample, Event: nested.Event})
		}
		return dp.SampledWithoutReplacement{Population: e.Population, Sample: e.Sample, Event: inner}, nil
	}
	return leaf, nil
}

// single unwraps an event inside a sample that is one run of one event.
func single(event, outer dp.Event) (dp.Event, error) {
	var only dp.Event
	runs := int64(0)
	err := leaves(event, 1, func(leaf dp.Event, n int64) error {
		only = leaf
		runs += min(n, 2)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if runs != 1 {
		return nil, unsupported(outer, "of a composition: the runs share one sample, and no pair is known that dominates them together; give each run its own sample, or use the events without the sampling")
	}
	return reduce(only)
}

// part is the privacy loss of one run of a reduced leaf that is not a Gaussian.
func (p *PLD) part(leaf dp.Event, v view) (lossdist.Part, error) {
	switch e := leaf.(type) {
	case dp.PoissonSampled:
		if p.adj == dp.AddRemoveOne || v != proven && v != exact {
			return sampled(dp.AddRemoveOne, e.Event, e.Rate, v)
		}
		if g, ok := e.Event.(dp.Gaussian); ok {
			return lossdist.Part{Law: lossdist.Antipodal{Shift: 1 / g.NoiseMultiplier, Rate: e.Rate}, Rate: e.Rate}, nil
		}
		return symmetrical(e.Event, e.Rate)
	case dp.SampledWithoutReplacement:
		rate := float64(e.Sample) / float64(e.Population)
		if v == proven {
			return symmetrical(e.Event, rate)
		}
		return sampled(dp.ReplaceOne, e.Event, rate, v)
	}
	law, err := baseLaw(p.adj, leaf)
	return lossdist.Part{Law: law, Rate: 1}, err
}

// sampled is the pair of the mixture with rate against the base, or its reverse.
func sampled(adj dp.Adjacency, inner dp.Event, rate float64, v view) (lossdist.Part, error) {
	law, err := baseLaw(adj, inner)
	shape := func(b *lossdist.Bins) *lossdist.Bins { return b.Poisson(rate) }
	if v.reversed() {
		shape = func(b *lossdist.Bins) *lossdist.Bins { return b.Poisson(rate).Reverse() }
	}
	return lossdist.Part{Law: law, Shape: shape, Rate: rate}, err
}

// symmetrical is the pair that dominates sampling under replace_one in both
// orders.
func symmetrical(inner dp.Event, rate float64) (lossdist.Part, error) {
	law, err := baseLaw(dp.ReplaceOne, inner)
	shape := func(b *lossdist.Bins) *lossdist.Bins { return b.Symmetric(rate) }
	return lossdist.Part{Law: law, Shape: shape, Rate: rate}, err
}

const (
	// leastMultiplier is the smallest noise of a sampled Gaussian or Laplace
	// event whose loss is discretised; below it epsilon is in the thousands.
	leastMultiplier = 0.01
	// mostRatio is the largest distance over scale of a discrete law, the
	// counterpart of leastMultiplier.
	mostRatio = 2 / leastMultiplier
	// leastSigma is the smallest sigma of a discrete Gaussian. Its partition ends
	// at most 14 sigma + 2 steps from a mean, where the density over the centre's is
	// exp(-(14 + 2/sigma)^2/2). From sigma = 2/23 on that is at least exp(-685), so
	// that no mass beyond the partition is denormal or vanishes.
	leastSigma = 2.0 / 23
	// mostPoints bounds how many points of a discrete Gaussian are summed.
	mostPoints = 1 << 21
)

// baseLaw is the dominating pair of an event that is not sampled.
func baseLaw(adj dp.Adjacency, event dp.Event) (lossdist.Law, error) {
	switch e := event.(type) {
	case dp.Gaussian:
		if e.NoiseMultiplier < leastMultiplier {
			return nil, uncertified(e, "noise_multiplier", e.NoiseMultiplier)
		}
		return lossdist.Gaussian{Shift: adj.SumSensitivity(1) / e.NoiseMultiplier}, nil
	case dp.Laplace:
		if e.NoiseMultiplier < leastMultiplier {
			return nil, uncertified(e, "noise_multiplier", e.NoiseMultiplier)
		}
		return lossdist.Laplace{Shift: adj.SumSensitivity(1) / e.NoiseMultiplier}, nil
	case dp.DiscreteLaplace:
		if !(integerGap(adj, e.Norm)/e.Scale <= mostRatio) {
			return nil, uncertified(e, "norm over scale", e.Norm/e.Scale)
		}
		return lossdist.DiscreteLaplace{Scale: e.Scale, Gap: integerGap(adj, e.Norm)}, nil
	case dp.DiscreteGaussian:
		gap, ok := singleShift(adj, e)
		if !ok {
			return nil, renyiOnly(e, "of this norm in this many dimensions has no one worst difference, and no loss distribution here")
		}
		if gap == 0 {
			return lossdist.Atoms{{P: 1, Q: 1}}, nil
		}
		law := lossdist.DiscreteGaussian{Sigma: e.Sigma, Gap: gap}
		if !(law.Points() <= mostPoints && law.Gap/law.Sigma <= mostRatio && law.Sigma >= leastSigma) {
			return nil, uncertified(e, "sigma", e.Sigma)
		}
		return law, nil
	case dp.RandomizedResponse:
		return lossdist.Response(e.Buckets, e.NoiseParameter), nil
	case dp.ApproximateDP:
		return lossdist.Approximate(e.Epsilon, e.Delta), nil
	}
	if e, ok := event.(dp.Shuffled); ok {
		return nil, unsupported(e, "has no loss distribution here; "+smoothRemedy)
	}
	if _, ok := event.(dp.SmoothGaussian); ok {
		// Which ratio of the two variances is worst depends on epsilon, so there is
		// no pair to compose.
		return nil, unsupported(event, "has no loss distribution; charge it as approximate_dp, with the epsilon that SmoothGaussianEpsilon certifies at a delta of its own")
	}
	return nil, unsupported(event, "is unknown to the PLD accountant; use the rdp accountant")
}

func uncertified(e dp.Event, field string, value float64) error {
	return fmt.Errorf("%w: %s: %s is %v, outside what the PLD accountant's numerics cover; use the rdp accountant", ErrUncertified, e.Kind(), field, value)
}
