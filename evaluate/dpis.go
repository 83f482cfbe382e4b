package evaluate

import "github.com/discreet-rl/discreet/rl/value"

// DPIS is importance sampling of whole trajectories (Precup, Sutton and Singh
// 2000) under differential privacy: the mean over persons of the product of
// importance ratio and return, clipped a person, released with its second
// moment by [mechanism.Moments] in one Gaussian release.
//
// Released: a scalar with a 95% interval. Unit: a person. Adjacency: either.
// Clip: the public range of a return, times MaxWeight off-policy. Event:
// dp.Gaussian. Proof: docs/proofs/moments.md.
type DPIS struct {
	// MaxWeight is the public cap on a trajectory's importance weight, in whose
	// products with returns the clip is expressed. 0 means 10; on-policy it is 1.
	MaxWeight float64 `json:"max_weight,omitempty"`
}

// Plan implements [Estimator].
func (m DPIS) Plan(p Public) (*Plan, error) {
	return planWeighted("dp-is", p, m.MaxWeight, func(dst []float64, s *value.Sample) {
		value.ISContributions(dst, make([]float64, len(dst)), s)
	})
}

// DPPDIS is per-decision importance sampling (Precup, Sutton and Singh 2000)
// under differential privacy: as [DPIS], but each reward is weighted by the
// ratios up to its own decision.
type DPPDIS struct {
	// MaxWeight is as in [DPIS].
	MaxWeight float64 `json:"max_weight,omitempty"`
}

// Plan implements [Estimator].
func (m DPPDIS) Plan(p Public) (*Plan, error) {
	return planWeighted("dp-pdis", p, m.MaxWeight, value.PDISContributions)
}

func planWeighted(method string, p Public, maxWeight float64, each contributions) (*Plan, error) {
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	cap, err := weightCap(method, p, maxWeight)
	if err != nil {
		return nil, err
	}
	plan, err := weightedMean{method: method, public: p, clip: clipRange(p, cap), each: each}.plan()
	if err != nil {
		return nil, err
	}
	plan.Facts["max_weight"] = cap
	return plan, nil
}
