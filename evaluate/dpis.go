package evaluate

import (
	"context"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

// DPIS is importance sampling of whole trajectories (Precup, Sutton and Singh
// 2000) under differential privacy: the mean over persons of the product of
// importance ratio and return, clipped a person, released with its second
// moment by [mechanism.Moments] in one Gaussian release.
//
// Released: a scalar with a 95% interval. Unit: a person. Adjacency: either.
// Clip: the public range of a return, times MaxWeight off-policy, or a narrower
// range chosen from a paid histogram. Event: dp.Gaussian, or one for each of
// histogram, diagnostics and estimate, composed. Proofs: docs/proofs/moments.md,
// docs/proofs/dp-dr.md.
type DPIS struct {
	// MaxWeight is the public cap on a trajectory's importance weight, in whose
	// products with returns the clip is expressed. 0 means 10; on-policy it is 1.
	MaxWeight float64 `json:"max_weight,omitempty"`
	// Clip is "public" (the default), which clips to the whole public range, or
	// "auto", which pays for a histogram and narrows it. Where noise would drown
	// the histogram, which is decided from public facts, auto keeps the public
	// range and pays nothing.
	Clip string `json:"clip,omitempty"`
	// ClipShare is the share of the budget (of mu^2) that the histogram gets. 0
	// means 0.2.
	ClipShare float64 `json:"clip_share,omitempty"`
	// Diagnostics is the share of the budget that pays for an [Overlap]. 0, the
	// default, releases none.
	Diagnostics float64 `json:"diagnostics,omitempty"`
}

// DPPDIS is per-decision importance sampling (Precup, Sutton and Singh 2000)
// under differential privacy: as [DPIS], but each reward is weighted by the
// ratios up to its own decision.
type DPPDIS struct {
	// MaxWeight, Clip, ClipShare and Diagnostics are as in [DPIS].
	MaxWeight   float64 `json:"max_weight,omitempty"`
	Clip        string  `json:"clip,omitempty"`
	ClipShare   float64 `json:"clip_share,omitempty"`
	Diagnostics float64 `json:"diagnostics,omitempty"`
}

// Plan implements [Estimator].
func (m DPIS) Plan(p Public) (*Plan, error) {
	p = p.clone()
	return m.plan("dp-is", p, func(dst []float64, s *value.Sample) {
		value.ISContributions(dst, make([]float64, len(dst)), s)
	})
}

// Plan implements [Estimator].
func (m DPPDIS) Plan(p Public) (*Plan, error) {
	p = p.clone()
	return DPIS(m).plan("dp-pdis", p, value.PDISContributions)
}

// plan is common to both, which differ in the number that a person adds.
func (m DPIS) plan(method string, p Public, each func(dst []float64, s *value.Sample)) (*Plan, error) {
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	cap, err := weightCap(method, p, m.MaxWeight)
	if err != nil {
		return nil, err
	}
	if m.Clip == "" {
		m.Clip = defaultMeanClip
	}
	clip, err := clipShare(method, p, m.Clip, m.ClipShare, scalar.ClipSteps)
	if err != nil {
		return nil, err
	}
	half := m.Diagnostics / 2
	w, err := meanOf(method, p, weightedRange(p, cap), cap, scalar.Stages{Clip: clip, Weights: half, Clipped: half})
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(method, p, eventOf(w.Noise), func(_ context.Context, d *trajectory.Dataset) (draw, error) {
		s, err := sampleFor(d, p)
		if err != nil {
			return nil, err
		}
		x, weight := make([]float64, d.Persons()), scalar.PersonWeights(s)
		each(x, s)
		return func(_ context.Context, src *noise.Source) (*Release, error) {
			e, err := w.Run(x, weight, w.Nest, src)
			if err != nil {
				return nil, err
			}
			return estimated(e), nil
		}, nil
	})
	if err != nil {
		return nil, err
	}
	plan.Facts["max_weight"] = cap
	plan.Facts["clip_share"] = clip
	plan.Facts["diagnostics_share"] = m.Diagnostics
	if err := plan.describeMean(w); err != nil {
		return nil, err
	}
	return plan, nil
}

// weightedRange is what a person's weighted return is clipped to: with weights
// up to cap the widest range holds every return in the public range, and 0 where
// weights may vanish. Off-policy it narrows toward 0, on-policy toward the
// middle.
func weightedRange(p Public, cap float64) scalar.Nest {
	g := p.Returns()
	if policy.OnPolicy(p.Target) {
		return scalar.Nest{Anchor: g.Mid(), Below: g.Width() / 2, Above: g.Width() / 2, Steps: scalar.ClipSteps}
	}
	return scalar.Nest{Below: max(0, -g.Min*cap), Above: max(0, g.Max*cap), Steps: scalar.ClipSteps}
}
