package evaluate

import (
	"github.com/discreet-rl/discreet/rl/policy"
)

// DPWIS is weighted importance sampling (Precup, Sutton and Singh 2000) under
// differential privacy. On-policy, where all weights are 1, it is the mean return,
// as [DPIS]. Off-policy it makes the same release as DPIS and has the same interval
// but for the point in it: the ratio of the noisy sums of weighted returns and of
// weights, as if what the data do not vouch for were like what they do.
type DPWIS struct {
	// All fields are as in [DPIS].
	MaxWeight   float64      `json:"max_weight,omitempty"`
	Clip        string       `json:"clip,omitempty"`
	ClipShare   float64      `json:"clip_share,omitempty"`
	Diagnostics float64      `json:"diagnostics,omitempty"`
	Confounding float64      `json:"confounding,omitempty"`
	Guess       *WeightGuess `json:"guess,omitempty"`
}

// Plan implements [Estimator].
func (m DPWIS) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
	const method = "dp-wis"
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	if p.By != nil {
		return p.grouped(method, m)
	}
	if policy.OnPolicy(p.Target) {
		return DPIS(m).onPolicy(method, p)
	}
	of := wholeReturns(p)
	of.selfNormalised = true
	return DPIS(m).offPolicy(method, p, of, nil)
}
