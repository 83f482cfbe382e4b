package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// quantity is one number that a release answers with: the value of a policy, or the
// difference of two values. It is a clipped sum of its own, of what a person adds to it, with
// limits that follow from the noisy sum; all of it is fixed before data are seen.
type quantity struct {
	name     string
	kind     AnswerKind
	policies []int // places of the one policy, or of the two
	// values are the places, among the answers, of the two values that a contrast is made
	// of; nil where the answer is a release of its own.
	values []int
	// apart says what a person adds to a contrast by the difference of weights, most is the
	// largest weight there and square bounds its mean square; nil where a person adds what they add to both values.
	apart        *scalar.Difference
	most, square float64

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

// quantities lists what is asked; subtract makes contrasts of values where both are answers.
func (t *Targets) quantities(p Public, of vouched, subtract bool) []quantity {
	apart := t.differences()
	var out []quantity
	for i, a := range t.intervals() {
		q := quantity{name: a.name, kind: OfPolicy}
		for _, name := range a.policies {
			q.policies = append(q.policies, t.place(name))
		}
		if len(a.policies) == 2 {
			q.kind = OfContrast
			if subtract {
				q.values = t.fromValues(q)
			}
			if q.values == nil {
				q.apart = t.apart(p, of, &q, apart[i-len(t.Levels)])
			}
		}
		out = append(out, q)
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
	first, second := t.Policies[q.policies[0]].Policy, t.Policies[q.policies[1]].Policy
	logged := policy.OnPolicy(first) || policy.OnPolicy(second)
	switch {
	case b == nil || b.Distance == 0 || p.estimates() || p.Discounts:
		return nil
	case logged && (of.confounding > 1 || of.precision > 0): // its ratio is 1, and the other is lowered
		return nil
	}
	d := &scalar.Difference{Distance: b.Distance, Steps: of.steps, Whole: of.whole, Span: scalar.Full}
	if d.Range().Width() > mirrored(of.within).Width() {
		return nil
	}
	q.most, q.square = math.Inf(1), math.Inf(1)
	if b.Weight > 0 {
		q.most, q.square = b.Weight, b.Weight // of mean 1
		if p.decisions() > 1 {                // times the ratios of other decisions
			largest, square := p.besideOne(of)
			q.most *= largest
			q.square *= square
		}
	}
	return d
}

// besideOne bounds the product of the ratios of all decisions but one, and its mean square;
// step by step the mean over decisions t of those up to t, each of which counts t + 1 times.
func (p Public) besideOne(of vouched) (largest, square float64) {
	if of.weights.largest > largestKnown || p.regime() != designed {
		return math.Inf(1), math.Inf(1)
	}
	d, decisions := p.Design, p.decisions()
	last := int64(len(d.Ratios)) - 1
	all := 1.0
	if of.stepwise {
		all = scalar.Later(float64(decisions), p.Gamma)
	}
	products, least, before, mean := [2]float64{1, 1}, [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{}, [2]float64{}
	for t := int64(0); t < decisions && !(t > last && d.Ratios[last] <= 1); t++ { // from there on it stays
		at := min(t, last)
		for i, r := range [2]float64{max(d.Ratios[at], 1), max(d.Squares[at], 1)} {
			products[i] *= r
			least[i] = min(least[i], r)
			beside := products[i] / least[i]
			if of.stepwise { // it grows here, for this decision and all later ones
				beside, before[i] = (beside-before[i])*(all-scalar.Later(float64(t), p.Gamma))/all, beside
				mean[i] += beside
			} else {
				mean[i] = beside
			}
		}
	}
	return mean[0], mean[1]
}

// bind fixes the range of the quantity and the caps on a person's weight in it.
func (q *quantity) bind(t *Targets, of vouched, b scalar.Bounds, cap float64) {
	q.bounds = b
	q.bounds.Usable = len(q.policies) == 1 && policy.OnPolicy(t.Policies[q.policies[0]].Policy)
	if q.kind == OfContrast {
		q.bounds.Range, q.bounds.Public.Returns, q.bounds.SelfNormalised = mirrored(of.within), mirrored(b.Public.Returns), false
		if q.apart != nil {
			q.bounds.Range = q.apart.Range()
			within := &q.bounds.Public.Returns
			within.Min, within.Max = within.Clamp(q.bounds.Range.Min), within.Clamp(q.bounds.Range.Max)
		}
	}
	q.bounds.Caps = scalar.ClipRanges{Above: q.cap(t, cap)}
}

// cap is a public cap on a person's weight, where most is that of one policy: the weight of
// the logged policy is 1, and that of a contrast the mean of the weights of both.
func (q *quantity) cap(t *Targets, most float64) float64 {
	of := func(k int) float64 {
		if policy.OnPolicy(t.Policies[k].Policy) {
			return 1
		}
		return most
	}
	switch {
	case q.apart != nil:
		return max(min(most, q.most), 1)
	case len(q.policies) == 1:
		return of(q.policies[0])
	}
	a, b := q.policies[0], q.policies[1]
	if disjoint(t.Policies[a].Policy, t.Policies[b].Policy) {
		return most / 2
	}
	return (of(a) + of(b)) / 2
}

// weights are those in the quantity where w bounds the ones of every policy: that of the
// logged policy is 1, and that of a contrast the mean of both. The law is a guess.
func (q *quantity) weights(t *Targets, w weightBound) weightBound {
	logged := func(k int) bool { return policy.OnPolicy(t.Policies[k].Policy) }
	switch {
	case q.apart != nil:
		return weightBound{q.most, q.square, []scalar.Atom{{Weight: q.square, Share: 1 / q.square}}}
	case len(q.policies) == 1 && logged(q.policies[0]):
		return weightBound{1, 1, []scalar.Atom{{Weight: 1, Share: 1}}}
	case len(q.policies) == 1:
		return w
	}
	a, b := q.policies[0], q.policies[1]
	out := weightBound{largest: q.cap(t, w.largest), square: w.square}
	switch {
	case disjoint(t.Policies[a].Policy, t.Policies[b].Policy): // one of both weights is 0
		out.square /= 2
		for _, x := range w.law {
			out.law = append(out.law, scalar.Atom{Weight: max(x.Weight/2, 1), Share: min(2*x.Share, 1)})
		}
	case logged(a) || logged(b):
		out.square = (out.square + 3) / 4
		for _, x := range w.law {
			out.law = append(out.law, scalar.Atom{Weight: (x.Weight + 1) / 2, Share: x.Share})
		}
	default:
		out.law = w.law
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
	for _, k := range q.policies {
		i := slices.Index(t.Levels, t.Policies[k].Name)
		if i < 0 {
			return nil
		}
		out = append(out, i)
	}
	return out
}

// mirrored is the range of a difference of two numbers in a range.
func mirrored(r facts.Range) facts.Range { return facts.Range{Min: -r.Width(), Max: r.Width()} }

// contributions are what every person adds to the value of each policy.
type contributions struct {
	targets *Targets
	xz      [][]float64    // x and z of every policy, and then of some contrasts
	apart   map[int]int    // the place of x, by answer, of contrasts that are not anchored
	rows    *value.Samples // for those that are
}

// bindable makes sure that nothing of a contrast fails once noise is drawn.
func (c contributions) bindable(quantities []quantity, d *trajectory.Dataset) error {
	for _, q := range quantities {
		if q.apart == nil {
			continue
		}
		for _, k := range q.policies {
			if _, err := c.targets.drawing(k).Bind(d); err != nil {
				return fmt.Errorf("targets: %s: %w", q.name, err)
			}
		}
	}
	return nil
}

// each writes what every person of a part adds.
func (c contributions) each(xz [][]float64, part []*value.Sample, of vouched, quantities []quantity) error {
	if err := of.weigh(xz, part); err != nil { // which lowers the ratios
		return err
	}
	for i, q := range quantities {
		if at, ok := c.apart[i]; ok {
			if err := c.differ(xz[at], xz[at+1], part, q, scalar.Full); err != nil {
				return err
			}
		}
	}
	return nil
}

// differ writes what every person of a part adds to a contrast by the difference of weights.
func (c contributions) differ(x, z []float64, part []*value.Sample, q quantity, s scalar.Span) error {
	k, l := q.policies[0], q.policies[1]
	distance, err := scalar.Distances(part[k].Data, c.targets.drawing(k), c.targets.drawing(l), q.apart.Distance)
	if err == nil {
		q.apart.From(s).Contributions(x, z, part[k], part[l], distance)
	}
	return err
}

// from is what everybody adds to a contrast where outcomes are shares of a span.
func (c contributions) from(i int, q quantity, s scalar.Span) (x, z []float64) {
	if at, ok := c.apart[i]; ok && s == scalar.Full {
		return c.xz[at], c.xz[at+1]
	}
	k, l := q.policies[0], q.policies[1]
	xk, zk, xl, zl := c.xz[2*k], c.xz[2*k+1], c.xz[2*l], c.xz[2*l+1]
	x, z = make([]float64, len(xk)), make([]float64, len(xk))
	if q.apart != nil {
		for walk, at := c.rows.Walk(), 0; at < len(x); {
			part, _ := walk.Of(at)
			end := at + part[0].Persons()
			if err := c.differ(x[at:end], z[at:end], part, q, s); err != nil {
				panic(err) // the policies were bound to these columns
			}
			at = end
		}
		return x, z
	}
	if s != scalar.Full {
		xk, zk = s.Measured(xk, zk)
		xl, zl = s.Measured(xl, zl)
	}
	scalar.Contrast(x, z, xk, zk, xl, zl)
	return x, z
}

// estimate draws the noise of the i-th quantity.
func (c contributions) estimate(i int, q quantity, src *noise.Source) (*scalar.Estimate, error) {
	k := q.policies[0]
	if q.kind != OfContrast {
		return q.bounds.Run(c.xz[2*k], c.xz[2*k+1], src)
	}
	var level [2][]float64
	if l, persons := q.policies[1], len(c.xz[2*k]); q.anchor > 0 {
		level = [2][]float64{make([]float64, persons), make([]float64, persons)}
		scalar.Contrast(level[0], level[1], c.xz[2*k], c.xz[2*k+1], c.xz[2*l+1], c.xz[2*l]) // the mean of both
	}
	return q.bounds.RunFrom(level, func(s scalar.Span) (x, z []float64) { return c.from(i, q, s) }, src)
}
