package survival

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
)

// kind is a kind of persons in a study of one decision: who they are and what they were given,
// with the probability of that, their weight under each policy, and their hazards.
type kind struct {
	share       float64
	weights     []float64
	event, drop []float64
}

// study is a study of persons with weights. In truth is what each policy does to everybody: the
// probability of being one of these people, whom the logs may never show.
type study struct {
	name   string
	kinds  []kind
	truth  [][]kind // by policy
	most   []float64
	tables int
}

// survivals are the true curve and restricted mean of a policy.
func (s study) survivals(policy int) (curve []float64, mean float64) {
	curve = make([]float64, visits)
	for _, k := range s.truth[policy] {
		left := k.share
		for j, h := range k.event {
			mean += left
			left *= 1 - h
			curve[j] += left
		}
	}
	return curve, mean
}

// question is what is asked: all policies, and the first less the second where there are two.
func (s study) question(sd float64, form Form, n int) Question {
	q := Question{Layout: Layout{Arms: len(s.most), Bins: visits, Causes: 1}, Until: visits, Control: -1, SD: sd,
		Weights: s.most, Overlap: s.tables > 1, Form: form, Persons: float64(n)}
	if q.Together = len(s.most); q.Arms == 2 {
		q.Pairs, q.Together = [][2]int{{0, 1}}, 1
	}
	for j := range visits {
		q.Ends = append(q.Ends, float64(j+1))
	}
	return q
}

// draw fills in the sums of n persons.
func (s study) draw(q Question, n int, r *rand.Rand) []float64 {
	cells := make([]float64, q.Cells())
	rest := 1.0
	for _, k := range s.kinds {
		left := binomial(n, min(k.share/rest, 1), r)
		n, rest = n-left, rest-k.share
		add := func(bin, cause, count int) {
			for i, w := range k.weights {
				cells[q.Exit(i, 0, bin, cause)] += float64(count) * min(w/s.most[i], 1)
			}
		}
		for j := range visits {
			died := binomial(left, k.event[j], r)
			gone := binomial(left-died, k.drop[j], r)
			add(j, 1, died)
			add(j, 0, gone)
			left -= died + gone
		}
		add(visits, 0, left)
	}
	return cells
}

func flat(h float64) []float64 { return hazards(h, 0, h) }

// twoByTwo are persons of two sorts, half each, given one of two treatments; the second with
// probability b by sort, and by a policy with probability pi. Hazards are by sort and treatment.
func twoByTwo(b [2]float64, policies [][2]float64, event, drop [2][2]float64) (kinds []kind, truth [][]kind) {
	truth = make([][]kind, len(policies))
	for sort := range 2 {
		for treatment := range 2 {
			of := func(p [2]float64) float64 {
				if treatment == 1 {
					return p[sort]
				}
				return 1 - p[sort]
			}
			k := kind{share: of(b) / 2, event: flat(event[sort][treatment]), drop: flat(drop[sort][treatment])}
			for i, pi := range policies {
				if p := of(pi); p > 0 {
					truth[i] = append(truth[i], kind{share: p / 2, event: k.event})
				}
				if of(b) > 0 {
					k.weights = append(k.weights, of(pi)/of(b))
				}
			}
			if k.share > 0 {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds, truth
}

// largest are the largest weights of each policy, or of all.
func newStudy(name string, tables int, kinds []kind, truth [][]kind) study {
	s := study{name: name, kinds: kinds, truth: truth, most: make([]float64, len(truth)), tables: tables}
	for _, k := range kinds {
		for i, w := range k.weights {
			s.most[i] = max(s.most[i], w)
		}
	}
	return s
}

var (
	hazard = [2][2]float64{{0.08, 0.04}, {0.03, 0.07}} // the one treatment suits the one sort, the other the other
	alike  = [2][2]float64{{0.03, 0.03}, {0.03, 0.03}}
)

// studies are those in which curves hold.
func studies() []study {
	all, suited, mixed := [2]float64{1, 1}, [2]float64{1, 0}, [2]float64{0.8, 0.2}
	half := [2]float64{0.5, 0.5}
	of := func(name string, tables int, b [2]float64, policies ...[2]float64) study {
		kinds, truth := twoByTwo(b, policies, hazard, alike)
		return newStudy(name, tables, kinds, truth)
	}
	return []study{
		of("one arm of a trial less the other", 1, half, all, [2]float64{}),
		of("by sort", 1, half, suited),
		of("by sort, drawn unevenly", 1, [2]float64{0.8, 0.6}, suited),
		of("mixed less uniform", 2, half, mixed, half),
		of("by sort less all", 2, half, suited, all),
	}
}

// steps is a study of a decision at each visit, of which b takes the second action half of the time and the policy
// with probability pi, whatever happened: hazards are by action, and anticipates is the probability that
// somebody leaves who is about to be given the second.
type steps struct {
	pi                float64
	event             [2]float64
	drop, anticipates float64
}

func (x steps) most() float64 { return math.Pow(2*max(x.pi, 1-x.pi), visits) }

func (x steps) truth() (curve []float64, mean float64) {
	h, s := (1-x.pi)*x.event[0]+x.pi*x.event[1], 1.0
	for range visits {
		mean += s
		s *= 1 - h
		curve = append(curve, s)
	}
	return curve, mean
}

func (x steps) question(sd float64, form Form, n int) Question {
	return study{most: []float64{x.most()}}.question(sd, form, n)
}

// draw follows persons by how often they were given the second action, and what they are about to be given.
func (x steps) draw(q Question, n int, r *rand.Rand) []float64 {
	cells := make([]float64, q.Cells())
	left := make([][2]int, visits+1)
	left[0][1] = binomial(n, 0.5, r)
	left[0][0] = n - left[0][1]
	for j := range visits {
		next := make([][2]int, visits+2)
		for k := range j + 1 {
			for action := range 2 {
				count, seconds := left[k][action], k+action
				share := math.Pow(2*x.pi, float64(seconds)) * math.Pow(2*(1-x.pi), float64(j+1-seconds)) / x.most()
				died := binomial(count, x.event[action], r)
				gone := binomial(count-died, x.drop, r)
				stay := count - died - gone
				second := binomial(stay, 0.5, r)
				fled := binomial(second, x.anticipates, r)
				cells[q.Exit(0, 0, j, 1)] += float64(died) * share
				if j+1 == visits { // nothing is to come
					cells[q.Exit(0, 0, j, 0)] += float64(gone) * share
					cells[q.End(0, 0)] += float64(stay) * share
					continue
				}
				cells[q.Exit(0, 0, j, 0)] += float64(gone+fled) * share
				next[seconds][1] += second - fled
				next[seconds][0] += stay - second
			}
		}
		left = next
	}
	return cells
}

// drawn makes the sums of so many persons.
type drawn interface {
	question(sd float64, form Form, n int) Question
	draw(q Question, n int, r *rand.Rand) []float64
}

// heldOf is how often, of so many logs, the mean and the band of the first policy, or of a difference where there is one, hold
// the truth, and the mean widths of the interval.
func heldOf(x drawn, form Form, curve []float64, mean float64, n, logs int, l law, seed uint64) (means, bands int, width float64) {
	q := x.question(l.sd, form, n)
	q.Sums = l.sums
	r, src := rand.New(rand.NewPCG(seed, 3)), noise.NewSeeded(seed)
	for range logs {
		cells := x.draw(q, n, r)
		l.disturb(q, cells, src)
		found := q.Estimate(cells)
		m, b := found.Arms[0].JointMean, found.Arms[0].Curve
		if len(found.Differences) > 0 {
			m, b = found.Differences[0].Mean, found.Differences[0].Curve
		}
		if m.Lower <= mean && mean <= m.Upper {
			means++
		}
		within := true
		for j, v := range curve {
			within = within && b.Lower[j] <= v+1e-12 && v <= b.Upper[j]+1e-12
		}
		if within {
			bands++
		}
		width += (m.Upper - m.Lower) / float64(logs)
	}
	return means, bands, width
}

// wanted is the truth that a study asks about.
func (s study) wanted() (curve []float64, mean float64) {
	curve, mean = s.survivals(0)
	if len(s.truth) == 2 {
		other, less := s.survivals(1)
		for j := range curve {
			curve[j] -= other[j]
		}
		mean -= less
	}
	return curve, mean
}

// TestCurvesOfPoliciesHold: a true 95% is below 88% of 200 logs with probability 1 in 20,000.
func TestCurvesOfPoliciesHold(t *testing.T) {
	l := laplaceLaw(t, 2)
	check := func(name string, x drawn, curve []float64, mean float64, n int, seed uint64) {
		const logs = 200
		means, bands, width := heldOf(x, Curves, curve, mean, n, logs, l, seed)
		t.Logf("%s, %d persons: means %d, bands %d of %d, width %.3g", name, n, means, bands, logs, width)
		if means < 176 || bands < 176 {
			t.Errorf("%s, %d persons: means hold in %d, bands in %d of %d", name, n, means, bands, logs)
		}
	}
	for i, s := range studies() {
		curve, mean := s.wanted()
		check(s.name, s, curve, mean, 2000, uint64(i))
	}
	x := steps{pi: 0.52, event: [2]float64{0.08, 0.03}, drop: 0.03}
	curve, mean := x.truth()
	check("a decision at each visit", x, curve, mean, 2000, 9)
}

// TestWhereCurvesOfPoliciesAreFalse: where the logs lack what the policy does, weights are cut, or
// leaving depends on what the policy goes by, or on the decision to come, a curve from naive weights is false and
// limits hold.
func TestWhereCurvesOfPoliciesAreFalse(t *testing.T) {
	const logs, n = 60, 4000
	l := laplaceLaw(t, 2)
	all, suited := [2]float64{1, 1}, [2]float64{1, 0}
	of := func(name string, b [2]float64, policy [2]float64, event, drop [2][2]float64) study {
		kinds, truth := twoByTwo(b, [][2]float64{policy}, event, drop)
		return newStudy(name, 1, kinds, truth)
	}
	cut := of("weights cut", [2]float64{0.8, 0.2}, all, [2][2]float64{{0.02, 0.02}, {0.15, 0.15}}, alike)
	cut.most = []float64{2}
	cases := []study{
		of("no support", [2]float64{0.5, 0}, all, [2][2]float64{{0.02, 0.02}, {0.15, 0.15}}, alike),
		cut,
		of("leaving by sort", [2]float64{0.5, 0.5}, suited, [2][2]float64{{0.03, 0.02}, {0.15, 0.1}}, [2][2]float64{{0.01, 0.01}, {0.2, 0.2}}),
	}
	far := func(x drawn, curve []float64) float64 { // by how much a naive curve is off without noise
		const many = 1 << 20
		q := x.question(0, Curves, many)
		values := q.Estimate(x.draw(q, many, rand.New(rand.NewPCG(1, 1)))).Arms[0].Curve.Values
		most := 0.0
		for j, v := range values {
			most = max(most, math.Abs(v-curve[j]))
		}
		return most
	}
	for i, s := range cases {
		curve, mean := s.wanted()
		_, naive, _ := heldOf(s, Curves, curve, mean, n, logs, l, uint64(20+i))
		means, bands, width := heldOf(s, Lived, curve, mean, n, logs, l, uint64(30+i))
		t.Logf("%s: naive off by %.3f, its band holds in %d of %d; limits %d and %d, width %.3g", s.name, far(s, curve), naive, logs, means, bands, width)
		if far(s, curve) < 0.05 || naive > logs/4 || means < logs-3 || bands < logs-3 {
			t.Errorf("%s: naive off by %.3f, its band holds in %d of %d; limits hold in %d and %d", s.name, far(s, curve), naive, logs, means, bands)
		}
	}
	// Who leaves before the second action has lived under a policy that had not yet decided: counted until
	// then, the sums are above 1, and so is what they say of survival.
	x := steps{pi: 0.55, event: [2]float64{0.10, 0.02}, drop: 0.01, anticipates: 0.4}
	curve, mean := x.truth()
	_, naive, _ := heldOf(x, Curves, curve, mean, 20*n, logs, l, 40)
	means, bands, _ := heldOf(x, Followed, curve, mean, 20*n, logs, l, 41)
	t.Logf("anticipated: naive off by %.3f, holds in %d of %d; limits %d and %d", far(x, curve), naive, logs, means, bands)
	if far(x, curve) < 0.05 || naive > logs/4 || means < logs-3 || bands < logs-3 {
		t.Errorf("anticipated: naive off by %.3f, its band holds in %d of %d; limits hold in %d and %d", far(x, curve), naive, logs, means, bands)
	}
	x = steps{pi: 0.45, event: [2]float64{0.01, 0.01}, drop: 0.01, anticipates: 0.4}
	curve, mean = x.truth()
	_, lived, _ := heldOf(x, Lived, curve, mean, 20*n, logs, l, 42)
	means, bands, _ = heldOf(x, Followed, curve, mean, 20*n, logs, l, 43)
	t.Logf("anticipated: limits that count who left hold in %d of %d, those that do not in %d and %d", lived, logs, means, bands)
	if lived > logs/4 || means < logs-3 || bands < logs-3 {
		t.Errorf("anticipated: limits that count who left hold in %d of %d, those that do not in %d and %d", lived, logs, means, bands)
	}
}
