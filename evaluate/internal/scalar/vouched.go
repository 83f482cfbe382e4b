package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
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

// Lower lowers every importance ratio of a sample to the least that it can be, so that weights
// are at most the true ones, which is all that [Bounds] ask for.
//
// Where hidden circumstances moved the logged decisions, so that given these too the odds of
// the logged action are up to factor >= 1 times as large, or as small, as those of its
// probability e, that action had a probability of at most f e/(1 - e + f e), and the ratio is
// at least pi/e (e + (1 - e)/f): docs/proofs/confounding.md. An action that is sure to be taken
// stays so. Where a recorded probability may be off by precision, e is at most that much
// above it, and so is pi below where it is recorded too: docs/proofs/overlap.md.
func Lower(s *value.Sample, factor, precision float64) {
	if precision == 0 {
		for row, e := range s.Data.BehaviorProb {
			s.Rho[row] *= e + (1-e)/factor
		}
		return
	}
	below := 0.0
	if _, recorded := s.Policy.(policy.ProbColumn); recorded {
		below = precision
	}
	for row, e := range s.Data.BehaviorProb {
		pi, most := max(s.Rho[row]*e-below, 0), min(e+precision, 1)
		s.Rho[row] = pi / most * (most + (1-most)/factor) * downward
	}
}

// downward makes up for the rounding of the operations before.
const downward = 1 - 0x1p-48

// Term is what every person adds to the value of one policy, x and z as [Bounds] has them, and how
// often that value counts in a combination: less than 0 times where it is subtracted.
type Term struct {
	X, Z  Numbers
	Times float64
}

// Combine is what every person adds to a combination of policies' values, such as the
// difference J_A - J_B, of which
//
//	p = (x_A + z_B)/2,  q = (z_A + x_B)/2
//
// are an estimate from below and above again: of (1 + J_A - J_B)/2, in shares of the
// range that reaches as far below 0 as above. What both policies do alike, with
// weight w, adds w/2 to each of p and q, whatever came of it: where weights are 1 it
// cancels outcome for outcome. A person's weight p + q is the mean of the two
// policies'. docs/proofs/contrasts.md has the proof.
func Combine(terms ...Term) (p, q Numbers) {
	p, q = terms[0].X.zeros(), terms[0].Z.zeros()
	total := 0.0
	for _, t := range terms {
		total += math.Abs(t.Times)
	}
	for i := range p {
		for _, t := range terms {
			times, x, z := t.Times, t.X[i], t.Z[i]
			if times < 0 {
				times, x, z = -times, z, x
			}
			for j := range p[i] {
				p[i][j], q[i][j] = p[i][j]+times*x[j], q[i][j]+times*z[j]
			}
		}
		for j := range p[i] {
			p[i][j], q[i][j] = p[i][j]/total, q[i][j]/total
		}
	}
	return p, q
}
