package fqe

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/internal/xmath"
	"github.com/discreet-rl/discreet/rl/policy"
)

// The forms of a linear model.
const (
	// LinearByAction fits a value to features and action. It needs the target policy's
	// probability of every action at every decision.
	LinearByAction = "linear"
	// LinearByState fits a value to features, decisions weighted by their ratios.
	LinearByState = "linear-state"
)

// IsLinear tells whether a form is one of a linear model.
func IsLinear(form string) bool { return form == LinearByAction || form == LinearByState }

// Linear asks for the linear model: noisy second moments of features, of features with
// those that follow, and of features with rewards, pooled over the decisions of an
// episode. All of it is public.
//
// The features of a decision are psi = (constant, sqrt(1-constant^2) phi/Norm), in the block
// of its action, of l2 norm at most 1; those of what follows are psi' = sum_a pi(a|s') psi(s', a).
type Linear struct {
	Public facts.Public
	Form   string
	// Dim is the number of features, Norm the bound on their l2 norm, Actions the number
	// of actions of the target policy, of form LinearByAction alone.
	Dim     int
	Norm    float64
	Actions int
	// Decisions, Discounts, MaxWeight and Multiplier are those of [Table].
	Decisions  int64
	Discounts  bool
	MaxWeight  float64
	Multiplier float64
}

// constant is the feature that all decisions have: less than the others, which have less to
// say and the same noise.
var constant = math.Sqrt(0.2)

// blocks is the number of actions that are told apart.
func (l Linear) blocks() int { return max(l.Actions, 1) }

// size is the number of features of a block, with the constant.
func (l Linear) size() int { return l.Dim + 1 }

// Weights is the number of weights of a value.
func (l Linear) Weights() int { return l.blocks() * l.size() }

// square is the number of noisy numbers of the second moments of a block.
func (l Linear) square() int { return l.size() * (l.size() + 1) / 2 }

// Coordinates is the number of noisy numbers.
func (l Linear) Coordinates() int {
	n := l.blocks()*l.square() + l.Weights()
	if l.Decisions > 1 {
		n += l.Weights() + l.Weights()*l.Weights()
	}
	return n
}

// perDecision is what the l2 norm of one decision's moments is thought not to exceed: it is
// at most sqrt(3), where features are as long as they can be, stay as they are, and are
// followed by one sure action and an extreme reward.
const perDecision = 1.2

// Most is the clip: a person whose moments are longer counts with the part that fits.
// Weights are in units of their cap and 1 on average before.
func (l Linear) Most() float64 {
	most := perDecision * float64(l.Public.Horizon)
	return max(perDecision, min(most, 2*most/l.MaxWeight))
}

// SD is the standard deviation of the noise in every moment.
func (l Linear) SD() float64 { return l.Most() * l.Multiplier }

// Release pays for the moments.
func (l Linear) Release(s value.Persons, src *noise.Source) (*LinearModel, error) {
	fresh := func() (*mechanism.VectorSum, error) {
		return mechanism.NewVectorSum(l.Coordinates(), l.Most(), l.Multiplier, l.Public.Noise)
	}
	noisy, err := mechanism.Spread(fresh, mechanism.Workers(l.Coordinates()), s.Persons(), func(sum *mechanism.VectorSum) func(int) error {
		x, read, walk := make([]float64, l.Coordinates()), l.reader(), s.Walk()
		return func(p int) error {
			_, p, err := walk.Bound(p, read.bind)
			if err != nil {
				return err
			}
			read.person(x, p)
			return sum.Add(x)
		}
	}, src)
	if err != nil {
		return nil, err
	}
	return l.model(noisy)
}

// reader makes features of points of a sample.
type reader struct {
	l                 Linear
	s                 *value.Sample
	bound             policy.Bound // nil where actions are not told apart
	now, after, given []float64
	odds              []float64
}

func (l Linear) reader() *reader {
	return &reader{l: l, now: make([]float64, l.size()), after: make([]float64, l.size()), given: make([]float64, l.Dim)}
}

// bind binds the reader and the target policy to a sample.
func (r *reader) bind(s *value.Sample) (err error) {
	r.s = s
	if r.l.Actions == 0 {
		return nil
	}
	if r.bound, err = s.Policy.Bind(s.Data); err != nil {
		return fmt.Errorf("%w: %w", ErrTarget, err)
	}
	r.odds = make([]float64, max(r.l.Actions, r.bound.Actions()))
	return nil
}

// features writes those of a point, of norm at most 1. What is longer than the public
// bound is cut to it.
func (r *reader) features(dst []float64, point int) {
	phi := r.s.Feature(r.given, point)
	norm := max(math.Sqrt(xmath.SquareNorm(phi)), r.l.Norm) / math.Sqrt(1-constant*constant)
	dst[0] = constant
	for i, x := range phi {
		dst[i+1] = x / norm
	}
}

// decides writes the target's probability of each action at a point and tells whether it
// is known. Without blocks there is one action, which is sure.
func (r *reader) decides(point int) ([]float64, bool) {
	if r.bound == nil {
		return []float64{1}, true
	}
	if point >= r.s.Data.Rows() || !r.bound.Distribution(r.odds, point) {
		return nil, false
	}
	return r.odds[:r.l.Actions], true
}

// person writes the moments of a person.
func (r *reader) person(x []float64, p int) {
	clear(x)
	from, to := r.s.Episodes(p)
	for e := from; e < to; e++ {
		lo, hi := r.s.Rows(e)
		for row := lo; row < hi; row++ {
			r.decision(x, row, row-lo)
		}
	}
}

// decision adds the moments of a decision that so many came before in its episode. What
// followed the last decision that an episode can have is not asked, and it counts for
// nothing; whoever was cut off before is taken to be as at the decision. Decisions of
// an action, or at a point, that the policy does not know of are left out.
func (r *reader) decision(x []float64, row, before int) {
	l := r.l
	if l.Decisions > 1 && int64(before) >= l.Decisions-1 {
		return
	}
	block, weight := 0, 1.0
	if l.Actions > 0 {
		if block = int(r.s.Data.Action[row]); block < 0 || block >= l.Actions {
			return
		}
	} else {
		weight = min(r.s.Ratio(row), l.MaxWeight) / l.MaxWeight
	}
	next, gamma, odds, known := value.Terminal, 0.0, []float64(nil), true
	if l.Decisions > 1 {
		next = r.s.Next[row]
	}
	if next == value.Unknown {
		next = row
	}
	if next != value.Terminal {
		gamma = r.s.Gamma(row)
		if odds, known = r.decides(next); !known {
			next = row
			odds, known = r.decides(row)
		}
	}
	if !known {
		return
	}
	r.features(r.now, row)
	m := l.size()
	at := block * l.square()
	for i, a := range r.now {
		x[at] += weight * a * a
		at++
		for _, b := range r.now[i+1:] {
			x[at] += weight * math.Sqrt2 * a * b
			at++
		}
	}
	reward := l.Public.Reward
	mark := (reward.Clamp(r.s.Data.Reward[row]) - reward.Mid()) / (reward.Width() / 2)
	at = l.blocks()*l.square() + block*m
	for i, a := range r.now {
		x[at+i] += weight * a * mark
	}
	if l.Decisions <= 1 {
		return
	}
	at = l.blocks()*l.square() + l.Weights() + block*m
	for i, a := range r.now {
		x[at+i] += weight * (1 - gamma) * a
	}
	if next == value.Terminal {
		return
	}
	r.features(r.after, next)
	weight *= gamma
	at = l.blocks()*l.square() + 2*l.Weights() + block*m*l.Weights()
	for _, a := range r.now {
		for _, q := range odds {
			for _, b := range r.after {
				x[at] += weight * a * q * b
				at++
			}
		}
	}
}

// at is the value at a point: the target's mean over actions of theirs, each moved into
// the range.
func (r *reader) at(value LinearValue, point int, within facts.Range) (float64, bool) {
	odds, known := r.decides(point)
	if !known {
		return 0, false
	}
	r.features(r.now, point)
	sum := 0.0
	for a, q := range odds {
		v := value.Constant
		for i, x := range r.now {
			v += x * value.Weights[a*len(r.now)+i]
		}
		sum += q * within.Clamp(v)
	}
	return sum, true
}
