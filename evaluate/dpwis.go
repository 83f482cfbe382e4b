package evaluate

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

// DPWIS is weighted importance sampling (Precup, Sutton and Singh 2000) under
// differential privacy: the ratio of the noisy sums of weighted returns and of
// weights, from [mechanism.Ratio], and then, for the interval, the noisy second
// moment of the clipped residuals d(x - v) around the ratio v just released.
//
// Weights average 1 where the logged probabilities are right, so what the mean
// of the clipped weights lacks is what the clip cut off, or what the logs never
// tried. Under ReplaceOne the interval is lengthened by the most that returns in
// the public range could move the value with it.
//
// Released: a scalar with a 95% interval. Unit: a person. Adjacency: either.
// Clip: returns to their public range, weights to [0, MaxWeight] or to a smaller
// cap from a paid histogram. Event: dp.Gaussian for the ratio and for the
// residuals, and for histogram and diagnostics where they are asked for,
// composed. Proofs: docs/proofs/ratio.md, docs/proofs/dp-dr.md.
type DPWIS struct {
	// MaxWeight is the public cap on a person's weight; on-policy it is 1. 0 means
	// 10 or, where the budget is small, sqrt(m mu/2) for m persons, but at least
	// 1, where mu is the budget's parameter of Gaussian differential privacy.
	MaxWeight float64 `json:"max_weight,omitempty"`
	// SamplingShare is the share of the budget (of mu^2) that the second moment of
	// the residuals gets, in (0, 1). 0 means 0.1.
	SamplingShare float64 `json:"sampling_share,omitempty"`
	// Clip, ClipShare and Diagnostics are as in [DPIS]; the clip is the cap on
	// weights. On-policy there is nothing to choose.
	Clip        string  `json:"clip,omitempty"`
	ClipShare   float64 `json:"clip_share,omitempty"`
	Diagnostics float64 `json:"diagnostics,omitempty"`
}

// Plan implements [Estimator].
func (m DPWIS) Plan(p Public) (*Plan, error) {
	p = p.clone()
	const method = "dp-wis"
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	if m.MaxWeight == 0 {
		var err error
		if m.MaxWeight, err = affordableWeight(p); err != nil {
			return nil, err
		}
	}
	cap, err := weightCap(method, p, m.MaxWeight)
	if err != nil {
		return nil, err
	}
	shares, err := m.shares(method, p)
	if err != nil {
		return nil, err
	}
	multipliers, err := splitStages(method, *p.Privacy, shares)
	if err != nil {
		return nil, err
	}
	w := scalar.WIS{Public: p.numbers(), Cap: cap, Noise: multipliers}
	private, sampling, err := w.Expected()
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(method, p, eventOf(multipliers), func(_ context.Context, d *trajectory.Dataset) (draw, error) {
		s, err := sampleFor(d, p)
		if err != nil {
			return nil, err
		}
		weighted, weight := make([]float64, d.Persons()), make([]float64, d.Persons())
		value.ISContributions(weighted, weight, s)
		return func(_ context.Context, src *noise.Source) (*Release, error) {
			e, err := w.Run(weighted, weight, src)
			if err != nil {
				return nil, err
			}
			return estimated(e), nil
		}, nil
	})
	if err != nil {
		return nil, err
	}
	plan.expect(private, sampling)
	plan.Facts["max_weight"] = cap
	plan.Facts["sampling_share"] = shares.Residual
	plan.Facts["clip_share"] = shares.Clip
	plan.Facts["diagnostics_share"] = m.Diagnostics
	plan.Facts["clip"] = p.Returns()
	plan.Notes = append(plan.Notes, wisNote(p, cap))
	return plan, nil
}

// shares are the parts of the budget that are asked for.
func (m DPWIS) shares(method string, p Public) (scalar.Stages, error) {
	s := scalar.Stages{Residual: m.SamplingShare, Weights: m.Diagnostics / 2, Clipped: m.Diagnostics / 2}
	if s.Residual == 0 {
		s.Residual = defaultSamplingShare
	}
	if m.Clip == "" {
		m.Clip = defaultMeanClip
	}
	var err error
	s.Clip, err = clipShare(method, p, m.Clip, m.ClipShare, scalar.CapSteps)
	if policy.OnPolicy(p.Target) {
		s.Clip = 0
	}
	return s, err
}

func wisNote(p Public, cap float64) string {
	values := p.Returns()
	clipped := fmt.Sprintf("The estimate is the weighted mean of returns clipped to [%g, %g] with weights clipped to at most %g.", values.Min, values.Max, cap)
	if p.Privacy.Adjacency == dp.ReplaceOne {
		return clipped + " Where the mean of the clipped weights lies below 1 by more than chance explains, the interval is lengthened by what the missing weight could change; this rests on right logged probabilities."
	}
	return clipped + " Where weights lie above, clipping moves it by an amount that the interval does not hold."
}
