package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// Whole says how whole trajectories are weighted.
type Whole struct {
	// Returns is the public range of a return, Reward that of one reward; of width 0 where
	// it is not known.
	Returns, Reward facts.Range
	// Horizon and Gamma are those of the problem. Discounts tells that the data hold a
	// discount for each decision.
	Horizon   int64
	Gamma     float64
	Discounts bool
}

// WholeOf are the public facts of a problem.
func WholeOf(p facts.Public, discounts bool) Whole {
	return Whole{Returns: p.Returns, Reward: p.Reward, Horizon: p.Horizon, Gamma: p.Gamma, Discounts: discounts}
}

// Contributions writes, for every person, the mean over their episodes of w G and w (1 - G),
// w the product of the ratios and G the return in shares of its public range.
//
// Of an episode that was cut off the return is not known. On-policy it lies between what was
// received and the range of what may have followed, for any reason of cutting, and only that
// range is missing mass. Off-policy the weight of what would have followed is not known
// either, and the whole episode is missing mass: docs/proofs/overlap.md.
func (c Whole) Contributions(x, z []float64, s *value.Sample) {
	contributions(x, z, s, func(e int) (float64, float64) { return c.episode(s, e) })
}

func (c Whole) episode(s *value.Sample, e int) (x, z float64) {
	cut := s.Cut(e, c.Horizon)
	if cut && !s.OnPolicy() {
		return 0, 0
	}
	g := s.Return(e)
	least, most := c.Returns.Clamp(g), c.Returns.Clamp(g)
	if cut {
		rest := c.rest(s, e)
		least, most = c.Returns.Clamp(g+rest.Min), c.Returns.Clamp(g+rest.Max)
	}
	w, width := s.TrajectoryRatio(e), c.Returns.Width()
	return w * ((least - c.Returns.Min) / width), w * ((c.Returns.Max - most) / width)
}

// rest is the range of the discounted rewards that may have followed an episode that was cut
// off. It may have ended at once.
func (c Whole) rest(s *value.Sample, e int) facts.Range {
	if !(c.Reward.Width() > 0) {
		return facts.Range{Min: math.Inf(-1), Max: math.Inf(1)}
	}
	lo, hi := s.Rows(e)
	left := float64(c.Horizon) - float64(hi-lo)
	if c.Discounts {
		for row := lo; row < hi; row++ {
			left *= s.Gamma(row)
		}
	} else {
		done := float64(hi - lo)
		left = discounted(float64(c.Horizon), c.Gamma) - discounted(done, c.Gamma)
	}
	return facts.Range{Min: left * min(c.Reward.Min, 0), Max: left * max(c.Reward.Max, 0)}
}

// discounted is the discounted number of so many decisions.
func discounted(decisions, gamma float64) float64 {
	if gamma == 1 {
		return decisions
	}
	return -math.Expm1(decisions*math.Log(gamma)) / (1 - gamma)
}
