package evaluate

import (
	"math"
	"slices"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// estimand is one number that is asked for: a combination of the values of policies, which
// [Targets.estimands] lists, or the value in a group of persons.
type estimand struct {
	name string
	kind AnswerKind
	of   []term
}

// term is a policy, by its place, and how often its value counts: less than 0 times where it is
// subtracted.
type term struct {
	policy int
	times  float64
}

// total is how often values count in all.
func (a estimand) total() (sum float64) {
	for _, x := range a.of {
		sum += math.Abs(x.times)
	}
	return sum
}

// within is the range of the combination of numbers in a range.
func (a estimand) within(r facts.Range) (out facts.Range) {
	for _, x := range a.of {
		low, high := x.times*r.Min, x.times*r.Max
		out.Min, out.Max = out.Min+min(low, high), out.Max+max(low, high)
	}
	return out
}

// logged is the part of the weight that the logged policy has, whose weight is 1.
func (a estimand) logged(t *Targets) (part float64) {
	for _, x := range a.of {
		if policy.OnPolicy(t.Policies[x.policy].Policy) {
			part += math.Abs(x.times)
		}
	}
	return part / a.total()
}

// disjoint tells that no episode has a weight above 0 under two of the policies.
func (a estimand) disjoint(t *Targets) bool {
	for i, x := range a.of {
		for _, y := range a.of[:i] {
			if !disjoint(t.Policies[x.policy].Policy, t.Policies[y.policy].Policy) {
				return false
			}
		}
	}
	return true
}

// quantity is an estimand that a release answers for: a clipped sum of its own, of what a person
// adds, with limits that follow from the noisy sum; all of it is fixed before data are seen.
type quantity struct {
	estimand
	// own bounds the weights of the policy whose value it is; nil where the bound of all does.
	own *weightBound
	// values are the places, among the answers, of the two values that a contrast is made
	// of; nil where the answer is a release of its own.
	values []int
	// apart says what a person adds to a contrast by the difference of weights, and
	// differ bounds these; nil where a person adds what they add to both values.
	apart  *scalar.Difference
	differ weightBound
	// together tells that its sum is one of several that are one release: see [Targets.together];
	// and uncorrelated, of a contrast of two values of these, that their errors are.
	together, uncorrelated bool
	// pair are what [Public.ofBoth] says of both weights, 0 where it cannot.
	pair [2]float64

	bounds scalar.Bounds
	// share and anchor are parts of the answer's budget: for the choice of its cap, and for where
	// its outcomes are measured from.
	share, anchor float64
}

// anchorShare is the part of its budget that a contrast pays for its anchor.
const anchorShare = 0.06

// stages share its budget out.
func (q *quantity) stages(part float64) scalar.Stages {
	return scalar.Stages{Clip: part * q.share, Anchor: part * q.anchor / 2, Spread: part * q.anchor / 2, Main: part * (1 - q.share - q.anchor)}
}

// ownOf bounds the weights of a policy, where its bound is not that of all.
func (of vouched) ownOf(policy int) *weightBound {
	if policy >= len(of.own) {
		return nil
	}
	return &of.own[policy]
}

// releases is how many intervals are made of sums, and into how many parts the budget is divided for them.
func releases(all []quantity) (intervals, parts int) {
	joint := 0
	for _, q := range all {
		if q.values == nil {
			intervals++
		}
		if q.together {
			joint++
		}
	}
	if intervals == joint {
		return intervals, 1
	}
	return intervals, intervals
}

// quantities lists what is asked.
func (t *Targets) quantities(p Public, of vouched, f form) []quantity {
	apart := t.differences()
	var out []quantity
	for _, a := range t.estimands() {
		q := quantity{estimand: a}
		if a.kind == OfPolicy {
			q.own = of.ownOf(a.of[0].policy)
		}
		if a.kind == OfContrast {
			if f.subtract {
				q.values = t.fromValues(q)
			}
			if q.values == nil && !slices.Contains(f.both, q.name) {
				q.apart = t.apart(p, of, &q, apart[0])
			}
			if b := apart[0]; b != nil && p.pairs(of, *b) {
				q.pair[0], q.pair[1] = p.ofBoth(of, *b)
			}
			apart = apart[1:]
		}
		out = append(out, q)
	}
	if !p.judges {
		t.together(out)
	}
	return out
}

// differences are what the policies of every contrast say of each other; nil where one of
// them does not give the probabilities of all actions, and of two constant policies of different
// actions, which add the same in both forms.
func (t *Targets) differences() []*policy.DifferenceBound {
	out := make([]*policy.DifferenceBound, len(t.Contrasts))
	if t.stated {
		copy(out, t.bounds)
		return out
	}
	for i, c := range t.Contrasts {
		first, second := t.drawing(t.place(c[0])), t.drawing(t.place(c[1]))
		if disjoint(first, second) {
			continue
		}
		if b, ok := policy.BoundDifference(first, second, t.Drawn); ok {
			out[i] = &b
		}
	}
	return out
}

// drawing is a policy with the probabilities of all actions: for the logged one that by
// which actions were drawn, where it is public.
func (t *Targets) drawing(k int) policy.Policy {
	if p := t.Policies[k].Policy; !policy.OnPolicy(p) || t.Drawn == nil {
		return p
	}
	return t.Drawn
}

// apart is the form of a contrast by the difference of weights, and notes how large weights are;
// nil where that form needs what is not known, or has the wider range.
func (t *Targets) apart(p Public, of vouched, q *quantity, b *policy.DifferenceBound) *scalar.Difference {
	switch {
	case b == nil || b.Distance == 0 || p.estimates() || p.Discounts:
		return nil
	case q.logged(t) > 0 && (of.confounding > 1 || of.precision > 0): // its ratio is 1, and the other is lowered
		return nil
	}
	d := &scalar.Difference{Distance: b.Distance, Steps: of.steps, Whole: of.whole, Span: scalar.Full}
	if d.Range().Width() > q.within(of.within).Width() {
		return nil
	}
	q.differ = p.differing(of, *b)
	return d
}

// bind fixes the range of the quantity and the caps on a person's weight in it.
func (q *quantity) bind(t *Targets, of vouched, b scalar.Bounds, cap float64) {
	q.bounds = b
	q.bounds.Usable, q.bounds.Together = q.logged(t) == 1, q.together
	q.bounds.Range, q.bounds.Public.Returns = q.within(of.within), q.within(b.Public.Returns)
	q.bounds.SelfNormalised = b.SelfNormalised && len(q.of) == 1
	if q.apart != nil {
		q.bounds.Range = q.apart.Range()
		within := &q.bounds.Public.Returns
		within.Min, within.Max = within.Clamp(q.bounds.Range.Min), within.Clamp(q.bounds.Range.Max)
	}
	q.bounds.Caps = scalar.ClipRanges{Above: q.cap(t, cap)}
}

// cap is a public cap on a person's weight, where most is that of one policy: the weight of
// the logged policy is 1, and that of a combination the mean of the weights of all.
func (q *quantity) cap(t *Targets, most float64) float64 {
	if q.apart != nil {
		return max(min(most, q.differ.largest), 1)
	}
	if q.own != nil {
		most = min(most, max(q.own.largest, 1))
	}
	sum, largest := 0.0, 0.0
	for _, x := range q.of {
		one := math.Abs(x.times) * most
		if policy.OnPolicy(t.Policies[x.policy].Policy) {
			one = math.Abs(x.times)
		}
		sum, largest = sum+one, max(largest, one)
	}
	if q.disjoint(t) {
		sum = largest
	}
	return sum / q.total()
}

// weights are those in the quantity where w bounds the ones of every policy: that of the
// logged policy is 1, and that of a combination the mean of all. The law is a guess.
func (q *quantity) weights(t *Targets, w weightBound) weightBound {
	logged, n := q.logged(t), float64(len(q.of))
	switch {
	case q.apart != nil:
		return q.differ
	case q.own != nil:
		return *q.own
	case logged == 1:
		return weightBound{1, 1, []scalar.Atom{{Weight: 1, Share: 1}}, w.scatter, w.supposed}
	}
	out := weightBound{largest: q.cap(t, w.largest), scatter: w.scatter}
	if n > 1 && q.disjoint(t) { // of all weights one is above 0
		for _, x := range q.of {
			out.square += w.square * (x.times / q.total()) * (x.times / q.total())
		}
		shares := 0.0
		for _, x := range w.law {
			shares += n * x.Share
		}
		shares = max(shares, 1)
		for _, x := range w.law {
			a := scalar.Atom{Weight: x.Weight / n * shares, Share: n * x.Share / shares}
			if w.supposed {
				a = scalar.Atom{Weight: max(x.Weight/n, 1), Share: min(n*x.Share, 1)}
			}
			out.law = append(out.law, a)
		}
		return out
	}
	rest := 1 - logged
	out.square = logged*logged + 2*logged*rest + rest*rest*w.square
	usual, of := 0.0, 0.0
	for _, x := range w.law {
		a := scalar.Atom{Weight: logged + rest*x.Weight, Share: x.Share}
		out.law = append(out.law, a)
		usual, of = usual+x.Share*a.Weight*a.Weight, of+x.Share*x.Weight*x.Weight
	}
	if q.pair[0] > 0 {
		out.law, out.scatter = withSquare(out.law, out.largest, q.pair[0]), q.pair[1]/q.pair[0]
	} else if n > 1 { // what two policies have in common cancels: half of it, if both are weighted
		out.scatter *= max(of-1, 0) / 4 / max(usual, 1)
	}
	return out
}

// fromValues are the places of the answers that a contrast is the difference of, nil
// where one of them is none.
func (t *Targets) fromValues(q quantity) []int {
	if q.kind != OfContrast {
		return nil
	}
	var out []int
	for _, x := range q.of {
		i := slices.Index(t.Levels, t.Policies[x.policy].Name)
		if i < 0 {
			return nil
		}
		out = append(out, i)
	}
	return out
}
