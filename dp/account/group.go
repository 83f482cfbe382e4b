package account

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// ForGroup answers for groups of linked persons, such as a family: neighbours may differ in up to
// that many persons. It composes events in a and queries a. The mu of Gaussian noise is multiplied
// by the number of persons; for all other events one person's trade-off function is iterated (Dong,
// Roth, Su 2022, Section 2.5), which is neither the composition of that many runs nor that multiple
// of epsilon. The lower end is then that of one person. It panics unless persons is at least 1.
//
// With one person's delta(eps) defined for eps < 0 too, any eps_1 + ... + eps_k = eps gives
//
//	delta_k(eps) <= delta(eps_1) + e^eps_1 delta(eps_2) + e^(eps_1 + eps_2) delta(eps_3) + ...
//
// and the best split is the iterated function. It is searched for on a table.
func ForGroup(a Accountant, persons int) Accountant {
	if persons < 1 {
		panic(fmt.Sprintf("account: ForGroup: %d persons; want at least 1", persons))
	}
	return &group{Accountant: a, persons: persons}
}

// mostPersons bounds the work of a group.
const mostPersons = 1 << 10

// group is what [ForGroup] returns.
type group struct {
	Accountant
	persons int
}

// Compose implements [Accountant].
func (g *group) Compose(ctx context.Context, event dp.Event, count int64) error {
	if err := checkCompose(g.Adjacency(), event, count); err != nil {
		return err
	}
	err := leaves(event, count, func(leaf dp.Event, _ int64) error {
		if e, ok := leaf.(dp.SmoothGaussian); ok && g.persons > 1 {
			return unsupported(e, "has no answer for groups here: its profile takes too long to tabulate; ask for the group of an approximate_dp event that it meets")
		}
		if g.persons > 1 && g.Adjacency() == dp.AddRemoveOne && sized(leaf) {
			return unsupported(leaf, "has no answer for groups under add_remove_one: its price holds for one number of persons, and each person of a group changes it; account for it under replace_one")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.Accountant.Compose(ctx, event, count)
}

// Delta implements [Accountant].
func (g *group) Delta(ctx context.Context, epsilon float64) (Bracket, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Bracket{}, err
	}
	one, err := g.Accountant.Delta(ctx, epsilon)
	if err != nil || g.persons == 1 {
		return one, err
	}
	if mu, ok := g.mu(ctx); ok {
		return certain(Bracket{GaussianDelta(mu.Lower, epsilon).Lower, GaussianDelta(mu.Upper, epsilon).Upper}, nil)
	}
	t, err := g.table(ctx, epsilon, 0)
	if err != nil {
		return Bracket{}, err
	}
	upper := 1.0
	for _, split := range [][]float64{t.uniform(epsilon), t.split(epsilon)} {
		u, err := g.bound(ctx, split, epsilon)
		if err != nil {
			return Bracket{}, err
		}
		upper = min(upper, u)
	}
	return certain(Bracket{min(one.Lower, upper), upper}, nil)
}

// Epsilon implements [Accountant].
func (g *group) Epsilon(ctx context.Context, delta float64) (Bracket, error) {
	if err := checkDelta(delta); err != nil {
		return Bracket{}, err
	}
	one, err := g.Accountant.Epsilon(ctx, delta)
	if err != nil || g.persons == 1 {
		return one, err
	}
	if mu, ok := g.mu(ctx); ok && !math.IsInf(mu.Upper, 1) {
		low, err := GaussianEpsilon(mu.Lower, delta)
		if err != nil {
			return Bracket{}, err
		}
		high, err := GaussianEpsilon(mu.Upper, delta)
		return certain(Bracket{low.Lower, high.Upper}, err)
	}
	if delta == 0 {
		return certain(Bracket{one.Lower, xmath.MulUp(one.Upper, float64(g.persons))}, nil)
	}
	upper, err := g.smallest(ctx, delta, one.Upper)
	return certain(Bracket{min(one.Lower, upper), upper}, err)
}

// smallest is an epsilon at which delta is certain to hold, near the smallest.
func (g *group) smallest(ctx context.Context, delta, one float64) (float64, error) {
	k := float64(g.persons)
	meets := func(split []float64, epsilon float64) (bool, error) {
		d, err := g.bound(ctx, split, epsilon)
		return d <= delta, err
	}
	// The same epsilon for every person meets delta from somewhere on.
	each, t := max(one, 1e-9), groupTable{persons: g.persons}
	corner := g.corner(ctx) * (1 + 1e-9)
	for range 200 {
		ok, err := meets(t.uniform(k*each), k*each)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if each < corner && corner < 1.25*each { // else it is stepped over, and what is beyond may not meet delta
			each = corner
			continue
		}
		if each *= 1.25; math.IsInf(k*each, 1) {
			break
		}
	}
	if ok, err := meets(t.uniform(k*each), k*each); err != nil || !ok {
		return 0, errors.Join(err, fmt.Errorf("%w: no epsilon is certain to hold at delta %v for a group of %d persons; raise delta or add noise", ErrUncertified, delta, g.persons))
	}
	t, err := g.table(ctx, k*each, delta*math.Exp(-k*each)/k)
	if err != nil {
		return 0, err
	}
	guess := bisect(k*each, func(epsilon float64) bool { return ctx.Err() != nil || t.value(t.split(epsilon)) <= delta })
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for step := 1e-9; ; step *= 4 {
		epsilon := min(guess*(1+step), k*each)
		if epsilon == k*each {
			return epsilon, nil
		}
		if ok, err := meets(t.split(epsilon), epsilon); ok || err != nil {
			return epsilon, errors.Join(err, ctx.Err())
		}
	}
}

// mu is that of the group, where one person's noise is Gaussian.
func (g *group) mu(ctx context.Context) (Bracket, bool) {
	var closed *closedForm
	switch a := g.Accountant.(type) {
	case *closedForm:
		closed = a
	case *lossAccountant:
		closed, _ = a.closed(ctx)
	case *tightest:
		closed = a.closed
	}
	if closed == nil || closed.single != nil || closed.square.Upper == 0 {
		return Bracket{}, false
	}
	mu := squareRoot(closed.square)
	k := float64(g.persons)
	return Bracket{max(xmath.MulDown(mu.Lower, k), 0), xmath.MulUp(mu.Upper, k)}, true
}

// deltaAt is one person's delta at any epsilon, rounded up: an event of probability x has one of
// at most e^eps x + delta(eps) under the neighbour, and its complement has too.
func (g *group) deltaAt(ctx context.Context, epsilon float64) (float64, error) {
	b, err := g.Accountant.Delta(ctx, math.Abs(epsilon))
	if err != nil || epsilon >= 0 {
		return b.Upper, err
	}
	return mirrored(epsilon, b.Upper), nil
}

// mirrored is delta at epsilon < 0 from that at -epsilon, rounded up.
func mirrored(epsilon, delta float64) float64 {
	return min(xmath.Up(-math.Expm1(epsilon)+math.Exp(epsilon)*delta, 8), 1)
}

// bound is the bound of a split, rounded up. A split that sums to more than epsilon bounds nothing.
func (g *group) bound(ctx context.Context, split []float64, epsilon float64) (float64, error) {
	sum, factor, delta := 0.0, 1.0, 0.0
	known := map[float64]float64{}
	for _, e := range split {
		d, ok := known[e]
		if !ok {
			var err error
			if d, err = g.deltaAt(ctx, e); err != nil {
				return 1, err
			}
			known[e] = d
		}
		if d > 0 {
			delta = xmath.AddUp(delta, xmath.MulUp(factor, d))
		}
		sum = xmath.AddUp(sum, e)
		factor = xmath.Up(math.Exp(sum), 4) // sum is rounded up itself
	}
	if !(sum <= epsilon) || !(delta <= 1) {
		return 1, nil
	}
	return delta, nil
}

// groupTable holds one person's delta at some epsilons, rising, for the search.
type groupTable struct {
	persons                int
	epsilon, factor, delta []float64 // factor is e^epsilon
}

// tableSize is the number of epsilons above 0 in the table. The loss of a split between them,
// compared with the best, decreases with the square of their distance.
const tableSize = 120

// table tabulates delta where a split of epsilon may go: as far as one person's
// losses do, or to a few equal parts, and no further than where delta is least.
func (g *group) table(ctx context.Context, epsilon, least float64) (groupTable, error) {
	t := groupTable{persons: g.persons}
	if g.persons > mostPersons {
		return t, fmt.Errorf("%w: a group of %d persons; want at most %d", ErrUncertified, g.persons, mostPersons)
	}
	// Where one of these is not certified the table is only a worse one.
	usual, _ := g.Accountant.Epsilon(ctx, 1e-3)
	largest, _ := g.Accountant.Epsilon(ctx, 0)
	top := min(epsilon+usual.Upper, 4*(epsilon/float64(g.persons)+usual.Upper))
	nodes := []float64{largest.Upper}
	nodes = append(nodes, g.corner(ctx))
	for i := range tableSize + 1 {
		nodes = append(nodes, top*(float64(i)/tableSize))
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	for _, e := range nodes {
		d, err := g.deltaAt(ctx, e)
		if err != nil {
			return t, err
		}
		t.add(e, d)
		if e > 0 {
			t.add(-e, mirrored(-e, d))
		}
		if d <= least && e > 0 {
			break
		}
	}
	sort.Sort(t)
	return t, nil
}

// corner is about the epsilon from which on one person's delta is the one that no epsilon undercuts, such as
// that of an (epsilon, delta) event: there the curve bends. It is 0 where there is none.
func (g *group) corner(ctx context.Context) float64 {
	rest, err := g.Accountant.Delta(ctx, math.MaxFloat64)
	if err != nil || !(rest.Upper > 0 && rest.Upper < 1) {
		return 0
	}
	at, err := g.Accountant.Epsilon(ctx, rest.Upper*(1+1e-6))
	if err != nil {
		return 0
	}
	return at.Upper
}

func (t *groupTable) add(epsilon, delta float64) {
	t.epsilon, t.factor, t.delta = append(t.epsilon, epsilon), append(t.factor, math.Exp(epsilon)), append(t.delta, delta)
}

func (t groupTable) Len() int           { return len(t.epsilon) }
func (t groupTable) Less(i, j int) bool { return t.epsilon[i] < t.epsilon[j] }
func (t groupTable) Swap(i, j int) {
	t.epsilon[i], t.epsilon[j] = t.epsilon[j], t.epsilon[i]
	t.factor[i], t.factor[j] = t.factor[j], t.factor[i]
	t.delta[i], t.delta[j] = t.delta[j], t.delta[i]
}

// uniform gives every person the same, a little less than their part.
func (t groupTable) uniform(epsilon float64) []float64 {
	out := make([]float64, t.persons)
	for i := range out {
		out[i] = epsilon * (1 - 0x1p-50*float64(t.persons)) / float64(t.persons)
	}
	return out
}

// split searches for the best split of epsilon. One person's step turns a test of probability x
// into one of probability min over eps of e^eps x + delta(eps); the minimising eps decreases with
// x. The steps of a group follow one another from one x. If the sum of their eps jumps past
// epsilon, the steps that jump are taken only in part.
func (t groupTable) split(epsilon float64) []float64 {
	low, high := -740.0, 0.0 // of ln x
	var above, below []float64
	var more, less float64
	for range 50 {
		mid := (low + high) / 2
		if steps, sum := t.path(math.Exp(mid)); sum > epsilon {
			low, above, more = mid, steps, sum
		} else {
			high, below, less = mid, steps, sum
		}
	}
	if above == nil || below == nil {
		return t.uniform(epsilon)
	}
	share := (epsilon - less) / (more - less)
	for i := range below {
		below[i] += share*(above[i]-below[i]) - 0x1p-48*(math.Abs(above[i])+math.Abs(below[i])+epsilon)
	}
	return below
}

// path follows x through all persons; the last step comes first in a split.
func (t groupTable) path(x float64) (steps []float64, sum float64) {
	steps = make([]float64, t.persons)
	for i := t.persons - 1; i >= 0; i-- {
		best, at := math.Inf(1), t.epsilon[0]
		for j, factor := range t.factor {
			if y := t.delta[j] + factor*x; y < best {
				best, at = y, t.epsilon[j]
			}
		}
		x, steps[i] = best, at
		sum += at
	}
	return steps, sum
}

// value is about what bound will be of a split, delta being taken to fall as an
// exponential between the table's epsilons.
func (t groupTable) value(split []float64) float64 {
	sum, delta := 0.0, 0.0
	last := len(t.epsilon) - 1
	for _, e := range split {
		i := min(max(sort.SearchFloat64s(t.epsilon, e)-1, 0), last-1)
		share := min(max((e-t.epsilon[i])/(t.epsilon[i+1]-t.epsilon[i]), 0), 1)
		d := t.delta[i] + share*(t.delta[i+1]-t.delta[i])
		if t.delta[i+1] > 0 {
			d = t.delta[i] * math.Pow(t.delta[i+1]/t.delta[i], share)
		}
		delta += math.Exp(sum) * d
		sum += e
	}
	return delta
}
