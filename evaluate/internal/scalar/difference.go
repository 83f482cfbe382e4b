package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Difference is a difference of the values of two policies, J_A - J_B, by the difference of
// their weights: decision by decision, with A before it and B after it. In a state where
// both act alike nothing is added, seen or missing. docs/proofs/contrasts.md has the proof.
//
// With w the weights of A before a decision, u = w (pi_A - pi_B)/b times the ratios of B
// after it, D the total variation in its state and r a reward in shares of its range, the
// decision adds u+ r + u-(1 - r) + w (Distance - D) to x, and u+ (1 - r) + u- r + w (Distance - D)
// to z, both over 2 Distance. A person's weight x + z is 1 on average where nothing is missing.
type Difference struct {
	// Distance is the largest total variation in any state, above 0.
	Distance float64
	// Steps weighs rewards decision by decision, and Whole returns; one of both is given.
	Steps *Stepwise
	Whole *Whole
	// Span is what the shares 0 and 1 of a reward or a return stand for.
	Span Span
}

// Range is the public range of the difference, which the shares 0 and 1 stand for: in no
// trajectory do the policies differ in more decisions than there are.
func (c Difference) Range() facts.Range {
	var most float64
	if c.Steps != nil {
		most = c.Distance * Later(float64(c.Steps.Horizon), c.Steps.Gamma) * c.Steps.Reward.Width()
	} else {
		most = c.Distance * float64(c.Whole.Horizon) * c.Whole.Returns.Width()
	}
	most *= c.Span.Width()
	return facts.Range{Min: -most, Max: most}
}

// From is the same difference of outcomes in another span.
func (c Difference) From(s Span) Difference {
	c.Span = s
	return c
}

// Later is the sum over decisions t = 0, 1, ... of gamma^t (t + 1).
func Later(decisions, gamma float64) float64 {
	e, total := 1-gamma, 0.0
	switch {
	case gamma == 1:
		return decisions * (decisions + 1) / 2
	case decisions <= mostAdded:
		for t := decisions - 1; t >= 0; t-- { // Horner, from the last
			total = total*gamma + t + 1
		}
	case decisions*e < 0.1: // powers of e, where the closed form cancels
		term := decisions * (decisions + 1) / 2
		for j := 1.0; math.Abs(term) > 1e-18*total; j++ {
			total += term
			term *= -e * (j + 1) / j * (decisions - j) / (j + 2)
		}
	default:
		gone := decisions * math.Log(gamma)
		total = (-math.Expm1(gone) - decisions*e*math.Exp(gone)) / (e * e)
	}
	return total
}

// mostAdded is how many decisions are added up one by one.
const mostAdded = 1000

// Contributions writes what every person adds, the mean over their episodes. a and b are
// samples of the same data.
func (c Difference) Contributions(x, z []float64, a, b *value.Sample, distance []float64) {
	contributions(x, z, a, func(e int) (float64, float64) {
		if c.Steps != nil {
			return c.stepwise(e, a, b, distance)
		}
		return c.whole(e, a, b, distance)
	})
}

// hybrid are the sums over the decisions so far of u+, of u- and of w (Distance - D), and the
// weight of A.
type hybrid struct{ more, less, same, weight float64 }

// decide adds one decision.
func (h *hybrid) decide(a, b, room float64) {
	h.more = min(h.more*b+h.weight*max(a-b, 0), far)
	h.less = min(h.less*b+h.weight*max(b-a, 0), far)
	h.same = min(h.same+h.weight*room, far)
	h.weight = min(h.weight*a, far)
}

func (c Difference) whole(e int, a, b *value.Sample, distance []float64) (x, z float64) {
	lo, hi := a.Rows(e)
	if a.Cut(e, c.Whole.Horizon) {
		return 0, 0
	}
	h := hybrid{weight: 1}
	for row := lo; row < hi; row++ {
		h.decide(a.Ratio(row), b.Ratio(row), c.Distance-distance[row])
	}
	h.same += h.weight * c.Distance * float64(max(c.Whole.Horizon-int64(hi-lo), 0)) // after its end both act alike
	share := c.Span.of((c.Whole.Returns.Clamp(a.Return(e)) - c.Whole.Returns.Min) / c.Whole.Returns.Width())
	scale := 2 * c.Distance * float64(c.Whole.Horizon)
	return (h.more*share + h.less*(1-share) + h.same) / scale, (h.more*(1-share) + h.less*share + h.same) / scale
}

func (c Difference) stepwise(e int, a, b *value.Sample, distance []float64) (x, z float64) {
	s := c.Steps
	lo, hi := a.Rows(e)
	h, discount, left := hybrid{weight: 1}, 1.0, s.total()
	add := func(decisions, reward float64) {
		share := c.Span.of((s.Reward.Clamp(reward) - s.Reward.Min) / s.Reward.Width())
		x += decisions * (h.more*share + h.less*(1-share) + h.same)
		z += decisions * (h.more*(1-share) + h.less*share + h.same)
	}
	for row := lo; row < hi; row++ {
		h.decide(a.Ratio(row), b.Ratio(row), c.Distance-distance[row])
		add(discount, a.Data.Reward[row])
		left -= discount
		discount *= s.Gamma
	}
	if int64(hi-lo) < s.Horizon && !a.Cut(e, s.Horizon) {
		add(max(left, 0), 0)
		rest := h.weight * c.Distance * discount * Later(float64(s.Horizon-int64(hi-lo)), s.Gamma)
		x, z = x+rest, z+rest
	}
	scale := 2 * c.Distance * Later(float64(s.Horizon), s.Gamma)
	return x / scale, z / scale
}

// Distances writes the total variation between two policies in the state of every row, at
// most largest, and largest where one of them cannot judge the row.
func Distances(d *trajectory.Dataset, a, b policy.Policy, largest float64) ([]float64, error) {
	first, err := a.Bind(d)
	if err != nil {
		return nil, err
	}
	second, err := b.Bind(d)
	if err != nil {
		return nil, err
	}
	p, q := make([]float64, first.Actions()), make([]float64, second.Actions())
	out := make([]float64, d.Rows())
	for row := range out {
		out[row] = largest
		if first.Distribution(p, row) && second.Distribution(q, row) {
			out[row] = min(policy.TotalVariation(p, q), largest)
		}
	}
	return out, nil
}
