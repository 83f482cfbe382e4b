package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
)

// DPIS is importance sampling of whole trajectories (Precup, Sutton and Singh 2000)
// under differential privacy.
//
// On-policy it is the mean return over persons. A person adds the share of its public range
// that their usable episodes are known to reach, and the share that they are known to miss:
// episodes that were left out, and what followed a cut, are missing mass, as below. Where data
// are stated to be complete ([Public.Complete]) it is released with its second moment by
// [mechanism.Moments].
//
// Off-policy a person with weight w, the product of the importance ratios, and
// return G in [0, 1], in shares of its public range, adds w G and w (1 - G), both
// shrunk alike where w exceeds a cap. Neither sum can be too large: the mean of the
// first lies below the value, 1 less that of the second above it, whatever the cap
// cuts and whatever the logs never tried. Both, with their second moments, are one
// release of [mechanism.Pair], and the interval reaches from the one to the other
// with the errors of sampling and of noise. What they leave open is the missing
// mass. The value is the middle of the two, which is the unbiased estimate where
// nothing is missing. An episode that was cut off, or left out, is missing mass.
//
// Released: a scalar with a 95% interval, and off-policy the missing mass. Unit: a
// person. Adjacency: either. Assumes: right logged probabilities. Clip: the public
// range of a return; off-policy weights to a cap, or to a smaller one chosen from a
// paid histogram. Event: dp.Gaussian or dp.DiscreteLaplace, or one for each of histogram, diagnostics and
// estimate, composed. Proofs: docs/proofs/moments.md, docs/proofs/overlap.md.
type DPIS struct {
	// MaxWeight is the public cap on a person's weight; on-policy it is 1. 0 means the
	// smaller of 64 and m mu/9 for m persons, where mu is the budget's parameter of
	// Gaussian differential privacy: at m mu/9 noise fills half the range. With the clip
	// public, or where m mu/9 is below 4, it means 10 or, where that is less,
	// sqrt(m mu/2), at least 1.
	MaxWeight float64 `json:"max_weight,omitempty"`
	// Clip is "public", which keeps the widest clip, or "auto", which pays for a
	// histogram and narrows it. "" means auto off-policy and public on-policy, where auto
	// needs complete data. Where noise would drown the histogram, which is decided from
	// public facts, auto keeps the public clip and pays nothing; off-policy, where the cap
	// is below 4.
	Clip string `json:"clip,omitempty"`
	// ClipShare is the share of the budget (of mu^2) that the histogram gets. 0
	// means 0.2.
	ClipShare float64 `json:"clip_share,omitempty"`
	// Diagnostics is the share of the budget that pays for an [Overlap]. 0, the
	// default, releases none.
	Diagnostics float64 `json:"diagnostics,omitempty"`
	// Confounding allows, off-policy, for hidden circumstances that moved the logged
	// decisions: given them, the odds of each logged action may be up to this factor,
	// at least 1, above or below those of its recorded probability. The interval holds
	// the value for all such circumstances: docs/proofs/confounding.md. 0 means 1: none.
	Confounding float64 `json:"confounding,omitempty"`
	// Guess, off-policy, is what is publicly supposed of weights. The plan's half width
	// rests on it; the release does not.
	Guess *WeightGuess `json:"guess,omitempty"`
}

// DPPDIS is per-decision importance sampling (Precup, Sutton and Singh 2000) under
// differential privacy. On-policy it is [DPIS]. Off-policy it differs in what a
// person adds: with w_t the product of the ratios up to decision t and r_t the
// reward in shares of its range, the sums over t of gamma^t w_t r_t and of gamma^t
// w_t (1 - r_t). A person's weight, which is capped, is the discounted mean of w_t. The
// value is self-normalised, as in [DPWIS].
//
// After an episode that ended by the problem's own rule weights are carried on to
// the horizon and rewards are 0; what would have followed an episode that was cut
// off is missing mass. So the data must say how episodes end. It is narrower than
// [DPIS] where episodes are long, and wider where the public range of a return is
// much narrower than what rewards allow.
type DPPDIS DPIS

// DPWIS is weighted importance sampling (Precup, Sutton and Singh 2000) under
// differential privacy. On-policy, where all weights are 1, it is the mean return,
// as [DPIS]. Off-policy it makes the same release as DPIS and has the same interval
// but for the point in it: the ratio of the noisy sums of weighted returns and of
// weights, as if what the data do not vouch for were like what they do.
type DPWIS DPIS

// Plan implements [Estimator].
func (m DPIS) Plan(p Public) (*Plan, error) { return m.plan("dp-is", m, p, wholeReturns, false) }

// Plan implements [Estimator].
func (m DPPDIS) Plan(p Public) (*Plan, error) {
	return DPIS(m).plan("dp-pdis", m, p, stepByStep, true)
}

// Plan implements [Estimator].
func (m DPWIS) Plan(p Public) (*Plan, error) {
	return DPIS(m).plan("dp-wis", m, p, wholeReturns, true)
}

// plan is common to importance sampling: asked is the method with these parameters, and adds
// says what a person adds off-policy.
func (m DPIS) plan(method string, asked Estimator, p Public, adds func(p Public) vouched, selfNormalised bool) (*Plan, error) {
	return planned(method, asked, p, func(method string, p Public) (draft, error) {
		if p.onPolicy() {
			return m.onPolicy(method, p)
		}
		of := adds(p)
		if of.steps != nil && !(p.Reward.Width() > 0) {
			return draft{}, fmt.Errorf("%w: dp-pdis weights every reward by itself and needs problem.reward, the public range of one; with the range of a return alone use dp-is or dp-wis", ErrPublic)
		}
		of.selfNormalised = selfNormalised
		return m.offPolicy(method, p, of, nil)
	})
}

// onPolicy is the mean return.
func (m DPIS) onPolicy(method string, p Public) (draft, error) {
	if m.Confounding > 1 {
		return draft{}, fmt.Errorf("%w: %s: confounding moves the weights of an off-policy value, and a mean return has none; leave it out", ErrMethod, method)
	}
	if err := m.Guess.onPolicy(method); err != nil {
		return draft{}, err
	}
	if p.share.some() || !p.Complete {
		return m.usable(method, p)
	}
	clip, err := clipShare(method, p, cmp.Or(m.Clip, clipPublic), m.ClipShare, scalar.ClipSteps)
	if err != nil {
		return draft{}, err
	}
	stages, ranges := m.stages(clip), scalar.Around(p.numbers(), 1, 0)
	var w scalar.Mean
	laplace, err := m.laplace(method, p, stages, func() (bool, error) {
		if w, err = meanOf(method, p, ranges, 1, stages); err != nil {
			return false, err
		}
		half, err := p.narrowerByLaplace(w)
		return half > 0, err
	})
	var event dp.Event
	switch {
	case err != nil:
	case laplace:
		w, clip = p.laplaceMean(ranges, 1), 0
		event, err = w.Event()
	default:
		w, err = meanOf(method, p, ranges, 1, stages)
		event = eventOf(w.Noise)
	}
	if err != nil {
		return draft{}, err
	}
	return m.meanReturn(method, p, w, event, clip)
}

// stages are the parts of the budget beside that of the estimate.
func (m DPIS) stages(clip float64) scalar.Stages {
	half := m.Diagnostics / 2
	return scalar.Stages{Clip: clip, Weights: half, Clipped: half}
}

// laplace tells whether noise is Laplace: where that is asked for, or left to the plan and expected to
// be narrower. It refuses what Laplace noise does not pay for.
func (m DPIS) laplace(method string, p Public, stages scalar.Stages, narrower func() (bool, error)) (bool, error) {
	asked, shared := p.Privacy.byLaplace(), len(stages.Taken()) > 0
	switch {
	case asked && p.Privacy.Fast:
		return false, fmt.Errorf("%w: %s: Laplace noise is exact; leave privacy.noise out", ErrPublic, method)
	case asked && shared:
		return false, fmt.Errorf("%w: %s: with Laplace noise one sum is all that is paid for; leave clip and diagnostics out, or set privacy.noise_family to gaussian and delta above 0", ErrMethod, method)
	case asked || p.Privacy.NoiseFamily != "" || p.Privacy.Fast || shared:
		return asked, nil
	}
	return narrower()
}

// meanReturn is the plan of a mean return.
func (m DPIS) meanReturn(method string, p Public, w scalar.Mean, event dp.Event, clip float64) (draft, error) {
	returns := byPerson{
		public: p, numbers: 2,
		each: func(numbers [][]float64, part []*value.Sample) error {
			value.ISContributions(numbers[0], numbers[1], part[0])
			return nil
		},
		run: func(numbers []scalar.Numbers, _ *value.Samples) (draw, error) {
			return func(_ context.Context, src *noise.Source) (*Release, error) {
				return paidFor(w.Run(numbers[0], numbers[1], w.Ranges, src))
			}, nil
		},
	}
	about, err := p.aboutMean(w)
	about.inMiddle(p.Returns().nearEnd(about.expected.HalfWidth, about.expected.StdPrivacy))
	return draft{
		method: method, public: p, event: event, prepare: returns.preparation(), slim: true, laplace: true,
		outcome: estimateAgain(func(e *scalar.Estimate) (*scalar.Estimate, error) { return w.Again(e, w.Ranges) }, nil),
		summary: about.and(m.shares(1, clip)),
	}, err
}

// shares are the cap and how the budget is shared out.
func (m DPIS) shares(cap, clip float64) summary {
	return summary{facts: map[string]any{"max_weight": cap, "clip_share": clip, "diagnostics_share": m.Diagnostics}}
}

// offPolicy is common to all importance sampling: methods differ in what the shares
// of a person are, in what a share of 1 stands for, and in the point of the interval
// that is the value. A baseline, where there is one, makes that point.
func (m DPIS) offPolicy(method string, p Public, of vouched, baseline *paidBaseline) (draft, error) {
	if !(of.within.Width() > 0) {
		return draft{}, fmt.Errorf("%w: %s: the public range of a return is a single point; give problem.reward or problem.return a width", ErrPublic, method)
	}
	if c := m.Confounding; c != 0 && !(c >= 1 && c <= mostConfounding) {
		return draft{}, fmt.Errorf("%w: %s: confounding is %v; want the factor, from 1 (none) to %g, by which odds may be off", ErrMethod, method, c, mostConfounding)
	}
	if m.Confounding > 1 && p.densities() {
		return draft{}, fmt.Errorf("%w: %s: confounding moves the odds of a probability, which a density has not; leave it out", ErrMethod, method)
	}
	if err := m.Guess.validate(method, p, m.Confounding); err != nil {
		return draft{}, err
	}
	if policies := m.byCell(p); policies != nil && baseline == nil {
		if d, err := m.cellwise(method, p, of, policies); err != nil || d.event != nil {
			return d, err
		}
	}
	if !p.targets().alone {
		return m.several(method, p, of)
	}
	if p.share.some() && m.Diagnostics != 0 {
		return draft{}, fmt.Errorf("%w: %s: diagnostics are of all persons; with by leave the parameter out", ErrMethod, method)
	}
	of.confounding = m.Confounding
	b := p.boundsOf(of)
	gaussian := func() (scalar.Bounds, tier, error) {
		caps, clip, err := m.caps(method, p, of.weights.largest)
		if err != nil {
			return b, tier{}, err
		}
		stages := m.stages(clip)
		if baseline != nil {
			baseline.stages(&stages)
		}
		p.estimation(&stages)
		b := b
		b.Caps = caps
		return m.tier(p, of, b, stages, func(s scalar.Stages) (scalar.Stages, error) {
			n, err := splitStages(method, *p.Privacy, s)
			return p.share.moved(n), err
		})
	}
	plan := func() (scalar.Bounds, tier, error) { return m.byNoise(method, p, of, b, gaussian) }
	if p.onPolicy() || baseline != nil {
		plan = gaussian
	}
	b, tier, err := plan()
	if err != nil {
		return draft{}, err
	}
	if of.behavior, err = p.propensities(method, b.Noise); err != nil {
		return draft{}, err
	}
	if baseline != nil && baseline.model != nil {
		if err := baseline.model.fix(method, p, b.Noise); err != nil {
			return draft{}, err
		}
	}
	g := guardedBy(b, baseline)
	about, err := p.aboutBounds(b, of.weights.largest, m.Confounding, m.Guess)
	if err != nil {
		return draft{}, err
	}
	event := eventOf(b.Noise)
	if b.Laplace {
		if event, err = b.Event(); err != nil {
			return draft{}, err
		}
		about.byLaplace()
	}
	d := draft{
		method: method, public: p, event: event, laplace: b.Laplace, outcome: estimateAgain(g.Again, of.behavior),
		summary:   about.and(m.shares(b.Caps.At(0).Max, tier.clip), baseline.summary(), tier.summary(p, m.Guess)),
		estimates: of.behavior != nil, lowers: true, needsEnds: of.needsEnds, onMeans: of.stepwise, uncut: b.Uncut != nil || b.Usable,
	}
	if m.Guess == nil && tier.half == 0 && !b.Usable && !p.supposes {
		err = d.summary.unforecast(p, b, !p.share.some() && !b.Confounded)
	} else if m.Guess == nil {
		near := p.Returns().nearEnd(d.summary.expected.HalfWidth, d.summary.expected.StdPrivacy)
		if b.Bare() && baseline == nil {
			if near, _, err = b.ForeseeNear(nearShare, of.weights.law, of.weights.scatter); err != nil {
				return d, err
			}
		}
		d.summary.inMiddle(near)
		if of.weights.scatter < 1 && tier.half > 0 {
			d.summary.outlook = append(d.summary.outlook, goTogether)
		}
		if tier.half > 0 && p.byStates() {
			d.least, err = b.Foresee(allOne(), of.weights.scatter)
			d.summary.inRareState(d.least)
		}
	}
	d.prepare, d.slim = guarded(g, of, baseline, p), baseline == nil && of.behavior == nil
	if p.share.some() {
		d.bounds = &b
	}
	return d, err
}

// caps are the caps on weights to choose from, and the share of the budget that the
// choice gets: none where little could be gained. No weight is above largest.
func (m DPIS) caps(method string, p Public, largest float64) (scalar.ClipRanges, float64, error) {
	most, err := weightCap(method, p, m.MaxWeight)
	if err != nil {
		return scalar.ClipRanges{}, 0, err
	}
	share, err := askedShare(method, cmp.Or(m.Clip, defaultMeanClip), m.ClipShare)
	if err != nil {
		return scalar.ClipRanges{}, 0, err
	}
	if policy.OnPolicy(p.Target) {
		return scalar.ClipRanges{Above: 1}, 0, nil
	}
	if m.MaxWeight == 0 {
		if most, err = m.widest(p, share); err != nil {
			return scalar.ClipRanges{}, 0, err
		}
	}
	most = min(most, max(largest, 1))
	caps := scalar.ClipRanges{Above: most}
	if share == 0 || most < narrowable {
		return caps, 0, nil
	}
	caps.Steps = capSteps(most)
	return caps, share, nil
}

// capSteps is how many caps there are below most. The narrowest is about 1, which is
// what weights are on average.
func capSteps(most float64) int { return min(int(2*math.Log2(most)), scalar.ClipSteps) }

// widest is the default cap on weights, or the widest to choose from.
func (m DPIS) widest(p Public, share float64) (float64, error) {
	if share == 0 {
		return affordableWeight(p)
	}
	r, err := meanInNoise(p)
	if most := min(largestAutoWeight, r/9); err != nil || most >= narrowable {
		return most, err
	}
	return affordableWeight(p)
}
