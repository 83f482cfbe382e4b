package scalar

import (
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// Stepwise says how rewards are weighted decision by decision.
type Stepwise struct {
	// Reward is the public range of one discounted reward; it holds 0 where an episode
	// may end before the horizon, since nothing is paid after its end.
	Reward facts.Range
	// Horizon and Gamma are those of the problem. Discounts tells that the data hold a
	// discount for each decision; a reward then stands for its discounted self, and
	// Gamma is 1.
	Horizon   int64
	Gamma     float64
	Discounts bool
}

// StepwiseOf are the public facts of a problem.
func StepwiseOf(p facts.Public, discounts bool) Stepwise {
	s := Stepwise{Reward: p.Reward, Horizon: p.Horizon, Gamma: p.Gamma, Discounts: discounts}
	if discounts {
		s.Gamma = 1
	}
	if p.Horizon > 1 {
		s.Reward.Min, s.Reward.Max = min(s.Reward.Min, 0), max(s.Reward.Max, 0)
	}
	return s
}

// total is the discounted number of decisions up to the horizon.
func (c Stepwise) total() float64 { return discounted(float64(c.Horizon), c.Gamma) }

// Range is the public range of a return that the rewards allow.
func (c Stepwise) Range() facts.Range {
	return facts.Range{Min: c.Reward.Min * c.total(), Max: c.Reward.Max * c.total()}
}

// Contributions writes, for every person, the mean over their episodes of
//
//	x = sum_t gamma^t w_t r_t / c,  z = sum_t gamma^t w_t (1 - r_t) / c,
//
// w_t the product of the ratios up to decision t, r_t the reward in shares of its
// range and c the sum of gamma^t over the horizon. After an episode that ended by the
// problem's own rule the weight is carried on, and the reward is 0. What would have
// followed an episode that was cut off is not known: it adds to neither, and is
// missing mass. So is an episode that was left out.
func (c Stepwise) Contributions(x, z []float64, s *value.Sample) {
	contributions(x, z, s, func(e int) (float64, float64) { return c.episode(s, e) })
}

// contributions writes the mean over every person's episodes of what each vouches for. An
// episode that was left out vouches for nothing and counts in the mean.
func contributions(x, z []float64, s *value.Sample, episode func(e int) (x, z float64)) {
	for p := range x {
		from, to := s.Episodes(p)
		n := float64(s.Data.Counted(p))
		x[p], z[p] = 0, 0
		for e := from; e < to; e++ {
			a, b := episode(e)
			x[p] += a / n
			z[p] += b / n
		}
	}
}

func (c Stepwise) episode(s *value.Sample, e int) (x, z float64) {
	lo, hi := s.Rows(e)
	w, discount, left, scale := 1.0, 1.0, c.total(), 1.0
	add := func(weight, reward float64) {
		share := (c.Reward.Clamp(reward) - c.Reward.Min) / c.Reward.Width()
		x += weight * share
		z += weight * (1 - share)
	}
	for row := lo; row < hi; row++ {
		w = min(w*s.Ratio(row), far)
		add(discount*w, scale*s.Data.Reward[row])
		left -= discount
		if c.Discounts {
			scale *= s.Gamma(row)
		} else {
			discount *= c.Gamma
		}
	}
	if int64(hi-lo) < c.Horizon && !s.Cut(e, c.Horizon) {
		add(max(left, 0)*w, 0)
	}
	return x / c.total(), z / c.total()
}
