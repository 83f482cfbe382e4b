package account

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account/internal/lossdist"
)

// view is one way to bound the composition: which of two neighbours comes first,
// and whether the pairs used are those that neighbours can realise, those that are
// proven to dominate, or both.
type view struct {
	// reversed: the second dataset holds the person (under replace_one: the record
	// that stands out), not the first one.
	reversed bool
	// realised: neighbours can reach what the view bounds from below.
	realised bool
	// dominates: the view's upper bound holds for the events.
	dominates bool
	// pick chooses, in a view that is only realised, among the worst differences.
	pick int
}

// needs returns the views that an event requires.
type needs struct {
	// above and below: the order of the neighbours matters to the pair that dominates,
	// or to that which is realised.
	above, below bool
	// split: the dominating pair is not one that neighbours realise.
	split bool
	// picks is the number of worst-case differences, if there are several.
	picks int
}

// mostPicks bounds the number of worst-case differences that the lower end of a composition tries,
// each in all runs.
const mostPicks = 4

// allViews lists the views that all events together need.
func (p *lossAccountant) allViews(ctx context.Context) []view {
	var all needs
	for _, e := range p.events {
		if n, err := p.needs(ctx, e.event); err == nil {
			all.above, all.below, all.split = all.above || n.above, all.below || n.below, all.split || n.split
			all.picks = max(all.picks, n.picks)
		}
	}
	views := []view{{dominates: true, realised: !all.split}}
	if all.above {
		views = append(views, view{dominates: true, realised: !all.split, reversed: true})
	}
	if !all.split {
		return views
	}
	for pick := range max(min(all.picks, mostPicks), 1) {
		views = append(views, view{realised: true, pick: pick})
		if all.below {
			views = append(views, view{realised: true, reversed: true, pick: pick})
		}
	}
	return views
}

// needs says what views a reduced leaf needs, or refuses it.
func (p *lossAccountant) needs(ctx context.Context, leaf dp.Event) (needs, error) {
	n, err := p.lookUp(ctx, leaf)
	if e, ok := leaf.(dp.TruncatedPoissonSampled); errors.Is(err, ErrUncertified) && !(ok && e.Population > mostPopulation) {
		err = fmt.Errorf("%w%s", err, takenByRDP(p.adj, leaf))
	}
	return n, err
}

func (p *lossAccountant) lookUp(ctx context.Context, leaf dp.Event) (needs, error) {
	if err := defined(p.adj, leaf); err != nil {
		return needs{}, err
	}
	if err := declared(leaf); err != nil {
		return needs{}, err
	}
	switch e := leaf.(type) {
	case dp.PoissonSampled:
		n, err := p.base(ctx, p.adj, e.Event, true)
		if err != nil {
			return n, err
		}
		if err := defined(p.adj, e.Event); err != nil {
			return n, err
		}
		n.below = true
		if p.adj == dp.AddRemoveOne {
			n.above = true
			return n, nil
		}
		switch e.Event.(type) {
		case dp.Gaussian:
			return needs{}, nil
		case dp.RandomizedResponse, dp.ApproximateDP, dp.GaussianDP, dp.PureDP, dp.Exponential, dp.PermuteAndFlip, dp.ReportNoisyMax:
			return n, unsupported(e, "of "+e.Event.Kind()+" under replace_one: nothing is known of samples of different sizes; account for it under add_remove_one, or without the sampling")
		}
		n.split = true
		return n, nil
	case dp.TruncatedPoissonSampled:
		if err := checkTruncated(e); err != nil {
			return needs{}, err
		}
		_, err := p.base(ctx, p.adj, e.Event, true)
		return needs{split: true, above: p.adj == dp.AddRemoveOne, below: true, picks: 2}, err
	case dp.SampledWithoutReplacement:
		n, err := p.base(ctx, p.adj, e.Event, true)
		n.below, n.split = true, true
		return n, err
	}
	return p.base(ctx, p.adj, leaf, false)
}

// base says what an event needs that is not sampled itself, or is what a sampled
// one runs.
func (p *lossAccountant) base(ctx context.Context, adj dp.Adjacency, event dp.Event, sampled bool) (needs, error) {
	switch event.(type) {
	case dp.ZeroConcentratedDP, dp.RenyiCurve, dp.SelectBest:
		if e, ok := event.(dp.SelectBest); ok && !sampled {
			if _, err := selectBestCurve(ctx, adj, e); err != nil {
				return needs{}, err
			}
		}
		if sampled {
			return needs{}, unsupported(event, "on a sample has no answer here: its Renyi divergences are known, and not those on a sample; account for it without the sampling, or state those of the whole as rdp_curve")
		}
		return needs{}, fmt.Errorf("%w: %w", unsupported(event, "has no loss distribution"), errRenyiOnly)
	case dp.PermuteAndFlip, dp.ReportNoisyMax: // what they realise is not computed
		return needs{split: true}, nil
	case dp.Exponential:
		_, err := p.law(ctx, adj, event, view{dominates: true})
		return needs{split: true, picks: mostOdds}, err
	case dp.TreeAggregation:
		if sampled {
			return needs{}, unsupported(event, "on a sample has no loss distribution here: a person of the sample would be in some nodes and not in others; account for it without the sampling")
		}
	case dp.PrivacyLoss:
		if sampled {
			return needs{}, unsupported(event, "states the loss of what was run; state that of the sampled mechanism instead")
		}
	}
	e, ok := event.(dp.DiscreteGaussian)
	if !ok {
		if _, plain := muSquare(adj, event, 1); plain && !sampled {
			return needs{}, nil
		}
		_, err := p.law(ctx, adj, event, view{dominates: true, realised: true})
		return needs{}, err
	}
	d := p.known.of(adj, e)
	switch {
	case d.single != nil:
		return needs{}, nil
	case d.shifts != nil:
		return needs{split: len(d.shifts) > 1, picks: len(d.shifts)}, nil
	case d.square.Upper > 0:
		if sampled && !(d.square.Upper <= mostRatio*mostRatio) {
			return needs{}, uncertified(e, "sigma", e.Sigma)
		}
		return needs{split: sampled}, nil
	case sampled:
		return needs{}, uncertified(e, "sigma", e.Sigma)
	}
	return needs{}, fmt.Errorf("%w: %w", uncertified(e, "sigma", e.Sigma), errRenyiOnly)
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
			rate := e.Rate * nested.Rate
			if rate < leastRate {
				return nil, fmt.Errorf("%w: poisson_sampled: a sample at rate %v of one at rate %v; want %v at least in all", ErrUncertified, e.Rate, nested.Rate, leastRate)
			}
			return reduce(dp.PoissonSampled{Rate: rate, Event: nested.Event})
		}
		return dp.PoissonSampled{Rate: e.Rate, Event: inner}, tooRare(e, e.Rate)
	case dp.TruncatedPoissonSampled:
		inner, err := single(e.Event, leaf)
		if err == nil {
			err = tooRare(e, e.Rate)
		}
		return dp.TruncatedPoissonSampled{Population: e.Population, Rate: e.Rate, Batch: e.Batch, Event: inner}, err
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

// leastRate is the least rate, or product of two: below it products with it have lost digits, or are 0.
const leastRate = 0x1p-1000

// tooRare refuses a sample in which hardly anybody ever is.
func tooRare(e dp.Event, rate float64) error {
	if rate < leastRate {
		return fmt.Errorf("%w: %s: rate is %v; want %v at least", ErrUncertified, e.Kind(), rate, leastRate)
	}
	return nil
}

// single unwraps an event inside a sample that is one run of one event. Runs of
// Gaussian noise on one sample are one Gaussian of their summed mu^2; it is marked as
// a composition of one, because what holds of one Gaussian sum under replace_one need
// not hold of sums that are chosen one after the other.
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
	if runs == 1 {
		return reduce(only)
	}
	if square, ok := gaussianTree(dp.AddRemoveOne, event, 1); ok {
		// The loss distribution allows for a mu that is off by 8 roundings.
		multiplier := 1 / math.Sqrt(square.Upper)
		if square.Upper <= square.Lower*(1+0x1p-49) && multiplier > 0 {
			return dp.SelfComposed{Count: 1, Event: dp.Gaussian{NoiseMultiplier: multiplier}}, nil
		}
	}
	return nil, unsupported(outer, "of a composition: the runs share one sample, and no pair is known that dominates them together unless all are Gaussian; give each run its own sample, or use the events without the sampling")
}

// part is the privacy loss of one run of a reduced leaf that is not a Gaussian.
func (p *lossAccountant) part(ctx context.Context, leaf dp.Event, v view) (lossdist.Part, error) {
	switch e := leaf.(type) {
	case dp.PoissonSampled:
		if p.adj == dp.AddRemoveOne || !v.dominates {
			return p.sampled(ctx, dp.AddRemoveOne, e.Event, e.Rate, v)
		}
		if g, ok := e.Event.(dp.Gaussian); ok {
			return lossdist.Part{Law: lossdist.Antipodal{Shift: 1 / g.NoiseMultiplier, Rate: e.Rate}, Rate: e.Rate}, nil
		}
		return p.symmetrical(ctx, e.Event, e.Rate, v)
	case dp.TruncatedPoissonSampled:
		return p.truncated(ctx, e, v)
	case dp.SampledWithoutReplacement:
		rate := float64(e.Sample) / float64(e.Population)
		if v.dominates {
			return p.symmetrical(ctx, e.Event, rate, v)
		}
		return p.sampled(ctx, dp.ReplaceOne, e.Event, rate, v)
	}
	law, err := p.law(ctx, p.adj, leaf, v)
	return lossdist.Part{Law: law, Rate: 1}, err
}

// sampled is the pair of the mixture with rate against the base, or its reverse.
func (p *lossAccountant) sampled(ctx context.Context, adj dp.Adjacency, inner dp.Event, rate float64, v view) (lossdist.Part, error) {
	law, err := p.law(ctx, adj, inner, v)
	shape := func(b *lossdist.Bins) *lossdist.Bins { return b.Poisson(rate) }
	if v.reversed {
		shape = func(b *lossdist.Bins) *lossdist.Bins { return b.Poisson(rate).Reverse() }
	}
	return lossdist.Part{Law: law, Shape: shape, Rate: rate}, err
}

// symmetrical is the pair that dominates sampling under replace_one in both
// orders.
func (p *lossAccountant) symmetrical(ctx context.Context, inner dp.Event, rate float64, v view) (lossdist.Part, error) {
	law, err := p.law(ctx, dp.ReplaceOne, inner, v)
	shape := func(b *lossdist.Bins) *lossdist.Bins { return b.Symmetric(rate) }
	return lossdist.Part{Law: law, Shape: shape, Rate: rate}, err
}

const (
	// leastMultiplier is the smallest noise of a sampled Gaussian or Laplace
	// event whose loss is discretised; below it epsilon is in the thousands.
	leastMultiplier = 0.01
	// mostRatio is the largest ratio of distance to scale of a discrete distribution, the
	// counterpart of leastMultiplier.
	mostRatio = 2 / leastMultiplier
	// leastSigma is the smallest sigma of a discrete Gaussian. Its partition ends
	// at most 14 sigma + 2 steps from a mean, where the density over the centre's is
	// exp(-(14 + 2/sigma)^2/2). From sigma = 2/23 on that is at least exp(-685), so
	// that no mass beyond the partition is denormal or vanishes.
	leastSigma = 2.0 / 23
	// mostPoints bounds the number of points of a discrete Gaussian that are summed.
	mostPoints = 1 << 21
)

// law is the pair of distributions of an event that is not sampled, as the view requires it.
func (p *lossAccountant) law(ctx context.Context, adj dp.Adjacency, event dp.Event, v view) (lossdist.Law, error) {
	switch e := event.(type) {
	case dp.Gaussian:
		if e.NoiseMultiplier < leastMultiplier {
			return nil, uncertified(e, "noise_multiplier", e.NoiseMultiplier)
		}
		return lossdist.Gaussian{Shift: adj.SumSensitivity(1) / e.NoiseMultiplier}, nil
	case dp.GaussianDP:
		if e.Mu > mostRatio {
			return nil, uncertified(e, "mu", e.Mu)
		}
		return lossdist.Gaussian{Shift: e.Mu}, nil
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
		return p.discreteLaw(ctx, adj, e, v)
	case dp.SelfComposed: // Gaussian noise on one sample
		return p.law(ctx, adj, e.Event, v)
	case dp.PureDP, dp.PermuteAndFlip, dp.ReportNoisyMax:
		epsilon, _ := pureLoss(event)
		return pureLaw(event, epsilon, v), nil
	case dp.Exponential:
		if e.Epsilon > mostRatio {
			return nil, uncertified(e, "epsilon", e.Epsilon)
		}
		return boundedRangeLaw(e, v), nil
	case dp.PrivacyLoss:
		return givenLaw(e), nil
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
		return nil, unsupported(event, "has no loss distribution; "+smoothRemedy)
	}
	return nil, unsupported(event, "has no loss distribution here"+takenByRDP(adj, event))
}

// discreteLaw is the pair of discrete Gaussian noise: that of its one worst
// difference; or what dominates all of them, or one of them; or continuous noise.
func (p *lossAccountant) discreteLaw(ctx context.Context, adj dp.Adjacency, e dp.DiscreteGaussian, v view) (lossdist.Law, error) {
	known := p.known
	if adj != p.adj { // sampled under replace_one, where a record may contribute nothing
		known = discreteCache{}
	}
	d := known.of(adj, e)
	switch {
	case d.single != nil && d.single.Gap == 0:
		return lossdist.Atoms{{P: 1, Q: 1}}, nil
	case d.single != nil:
		return *d.single, nil
	case d.square.Upper > 0:
		return lossdist.Gaussian{Shift: d.gaussian(v)}, nil
	case d.shifts == nil:
		return nil, uncertified(e, "sigma", e.Sigma)
	}
	laws, err := d.laws(ctx, e)
	if err != nil {
		return nil, err
	}
	if v.dominates {
		return lossdist.Envelope(laws), nil
	}
	last := min(len(laws), mostPicks) - 1
	return laws[min(v.pick, last)*(len(laws)-1)/max(last, 1)].Below(), nil
}

// uncertified refuses parameters beyond what the PLD accountant's numerics cover.
func uncertified(e dp.Event, field string, value float64) error {
	return fmt.Errorf("%w: %s: %s is %v, outside what the PLD accountant's numerics cover", ErrUncertified, e.Kind(), field, value)
}

// takenByRDP points to the Renyi accountant where that has a curve of the event,
// and nowhere else.
func takenByRDP(adj dp.Adjacency, e dp.Event) string {
	if !hasRenyi(adj, e) {
		return "; add noise"
	}
	return "; the rdp accountant bounds it"
}

// errRenyiOnly marks an event without a loss distribution that has a Renyi curve,
// by which New accounts for it.
var errRenyiOnly = errors.New("its Renyi divergences are known")
