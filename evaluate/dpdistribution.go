package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/distribution"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// DPDistribution estimates the distribution of the return under the policy: the distribution
// function at the ends of bins, quantiles, and the means of the lowest and of the highest
// returns (conditional value at risk).
//
// A person adds the mean, over their episodes, of the weight of an episode in the bin of its
// return, cut at a cap: what is cut, left out or cut off is missing. The mass up to a point lies
// below the function on average, and 1 less the mass above it lies above, whatever is missing
// (Chandak et al. 2021 weigh the function alike, without privacy). Off-policy the squares of
// weights are released beside them.
//
// Released: [Distribution], and quantiles and tails as answers; all limits hold together with
// 95%. Unit: a person. Adjacency: either. Assumes: off-policy, right logged probabilities.
// Clip: a person's weights add up to the cap at most. Event: dp.Gaussian. Proof:
// docs/proofs/distribution.md.
type DPDistribution struct {
	// Bins divide the public range of a return evenly; 0 means 20 where Ends is nil.
	Bins int `json:"bins,omitempty"`
	// Ends are the points at which the function is wanted, increasing and within the range of
	// a return; its upper end is added where it is not the last.
	Ends []float64 `json:"ends,omitempty"`
	// Discrete says that a return is one of Ends. One that is not counts as missing.
	Discrete bool `json:"discrete,omitempty"`
	// Quantiles are those to answer with; nil means 0.1, 0.5 and 0.9.
	Quantiles []float64 `json:"quantiles,omitempty"`
	// LowerTails and UpperTails are shares of the lowest and the highest returns whose means
	// are answers.
	LowerTails []float64 `json:"lower_tails,omitempty"`
	UpperTails []float64 `json:"upper_tails,omitempty"`
	// MaxWeight is the public cap on weights; 0 means the largest that the design allows, or
	// a cap that suits the budget where that is less; on-policy it is 1.
	MaxWeight float64 `json:"max_weight,omitempty"`
}

// Distribution is what dp-distribution releases beside its answers. All of it follows from the
// noisy masses in the diagnostics.
type Distribution struct {
	// Ends are the points at which the function is estimated.
	Ends []float64 `json:"ends"`
	// Function is the probability that a return is at most that.
	Function Curve `json:"function"`
}

const (
	defaultReturnBins = 20
	mostReturnBins    = 1000
	// squaresScale is that of squared weights beside weights. It makes the noise of these a
	// tenth larger.
	squaresScale = 0.5
	// unclipped is as good as no cap on weights.
	unclipped = 1e9
	// hopeless is the mean width of limits that tell nothing.
	hopeless = 0.95
)

// distributionQuestion is all that is fixed before data are seen.
type distributionQuestion struct {
	distribution.Question
	public     Public
	returns    Range
	asked      []askedQuantity
	squares    float64
	multiplier float64
	law        weightBound
}

// askedQuantity is one answer.
type askedQuantity struct {
	name string
	of   func(f distribution.Function) distribution.Quantity
}

// Plan implements [Estimator].
func (m DPDistribution) Plan(p Public) (*Plan, error) {
	return planned("dp-distribution", m, p, m.draft)
}

func (m DPDistribution) draft(method string, p Public) (draft, error) {
	q, err := m.question(method, p)
	if err != nil {
		return draft{}, err
	}
	h, err := q.masses()
	if err != nil {
		return draft{}, err
	}
	s, err := q.about(method)
	if err != nil {
		return draft{}, err
	}
	return draft{method: method, public: p, event: h.Event(), prepare: q.preparation(), outcome: q.again, summary: s,
		lowers: true, needsEnds: p.decisions() > 1, uncut: q.Whole || q.Most >= q.law.largest}, nil
}

// question checks the parameters.
func (m DPDistribution) question(method string, p Public) (distributionQuestion, error) {
	q := distributionQuestion{public: p, returns: p.Returns(), law: p.weightsOf(false)}
	if !(q.returns.Width() > 0) {
		return q, fmt.Errorf("%w: %s: the public range of a return is a single point; give problem.reward or problem.return a width", ErrPublic, method)
	}
	var err error
	if q.Ends, err = m.ends(method, q.returns); err != nil {
		return q, err
	}
	q.Least, q.Discrete, q.Whole = q.returns.Min, m.Discrete, p.onPolicy() && p.Complete
	if q.asked, err = m.quantities(method); err != nil {
		return q, err
	}
	if q.Most, err = affordableCap(method, p, m.MaxWeight, q.law.largest); err != nil {
		return q, err
	}
	if !p.onPolicy() {
		q.squares = squaresScale
	}
	if !p.private() {
		return q, nil
	}
	if p.Privacy.Adjacency == dp.ReplaceOne {
		q.Persons = float64(p.Persons)
	}
	found, err := multipliers(*p.Privacy, 1)
	if err != nil {
		return q, err
	}
	q.multiplier = found[0]
	h, err := q.masses()
	if err != nil {
		return q, err
	}
	q.SD, q.SquareSD = h.SD()
	return q, nil
}

// ends are the ends of bins.
func (m DPDistribution) ends(method string, returns Range) ([]float64, error) {
	if m.Ends == nil {
		n := m.Bins
		if n == 0 {
			n = defaultReturnBins
		}
		if n < 2 || n > mostReturnBins {
			return nil, fmt.Errorf("%w: %s: bins is %d; want 2 to %d", ErrMethod, method, n, mostReturnBins)
		}
		if m.Discrete {
			return nil, fmt.Errorf("%w: %s: discrete needs ends, the list of all returns there can be", ErrMethod, method)
		}
		ends := make([]float64, n)
		for j := range ends {
			ends[j] = returns.Min + returns.Width()*float64(j+1)/float64(n)
		}
		ends[n-1] = returns.Max
		return ends, nil
	}
	if m.Bins != 0 {
		return nil, fmt.Errorf("%w: %s: bins and ends both divide the range; leave one of them out", ErrMethod, method)
	}
	ends := slices.Clone(m.Ends)
	for j, x := range ends {
		if !(x >= returns.Min && x <= returns.Max) || j > 0 && !(x > ends[j-1]) {
			return nil, fmt.Errorf("%w: %s: ends[%d] is %v; want increasing numbers within the range of a return, %v to %v", ErrMethod, method, j, x, returns.Min, returns.Max)
		}
	}
	if len(ends) > 0 && ends[len(ends)-1] < returns.Max {
		ends = append(ends, returns.Max)
	}
	if len(ends) < 2 || len(ends) > mostReturnBins {
		return nil, fmt.Errorf("%w: %s: ends make %d bins; want 2 to %d", ErrMethod, method, len(ends), mostReturnBins)
	}
	return ends, nil
}

// quantities are the answers in the order in which they are given.
func (m DPDistribution) quantities(method string) (all []askedQuantity, err error) {
	quantiles := m.Quantiles
	if quantiles == nil {
		quantiles = []float64{0.1, 0.5, 0.9}
	}
	for _, kind := range []struct {
		key, words string
		shares     []float64
		most       float64
		of         func(f distribution.Function, share float64) distribution.Quantity
	}{
		{"quantiles", "quantile %v", quantiles, math.Nextafter(1, 0), distribution.Function.Quantile},
		{"lower_tails", "mean of the lowest %v", m.LowerTails, 1, distribution.Function.LowerTail},
		{"upper_tails", "mean of the highest %v", m.UpperTails, 1, distribution.Function.UpperTail},
	} {
		for i, share := range kind.shares {
			if !(share > 0 && share <= kind.most) || slices.Contains(kind.shares[:i], share) {
				return nil, fmt.Errorf("%w: %s: %s holds %v; want shares above 0 and below 1 (of a tail at most 1), each once", ErrMethod, method, kind.key, share)
			}
			all = append(all, askedQuantity{fmt.Sprintf(kind.words, share), func(f distribution.Function) distribution.Quantity { return kind.of(f, share) }})
		}
	}
	if n := len(all); n == 0 || n > mostAnswers {
		return nil, fmt.Errorf("%w: %s: quantiles, lower_tails and upper_tails ask for %d numbers; want 1 to %d", ErrMethod, method, n, mostAnswers)
	}
	return all, nil
}

// masses makes the empty release.
func (q *distributionQuestion) masses() (*mechanism.Masses, error) {
	g := q.public.Privacy
	return mechanism.NewMasses(len(q.Ends), q.Most, q.squares, q.multiplier, g.Adjacency, g.noise())
}

// preparation binds the plan to data.
func (q distributionQuestion) preparation() preparation {
	return byPerson{
		public: q.public.featureless(), rows: true,
		each: func(_ [][]float64, part []*value.Sample) error {
			if q.public.BehaviorPrecision > 0 && !part[0].OnPolicy() {
				scalar.Lower(part[0], 1, q.public.BehaviorPrecision)
			}
			return q.checkListed(part[0])
		},
		run: func(_ []scalar.Numbers, rows *value.Samples) (draw, error) {
			h, err := q.masses()
			if err != nil {
				return nil, err
			}
			if int64(rows.Persons()) > h.Capacity() {
				return nil, fmt.Errorf("%w: at most %d persons fit", ErrData, h.Capacity())
			}
			return func(_ context.Context, src *noise.Source) (*Release, error) { return q.draw(rows, src) }, nil
		},
	}.preparation()
}

// draw adds everybody up and draws the noise.
func (q distributionQuestion) draw(rows value.Persons, src *noise.Source) (*Release, error) {
	noisy, err := mechanism.Spread(q.masses, mechanism.Workers(len(q.Ends)), rows.Persons(), func(h *mechanism.Masses) func(int) error {
		in, squares, walk := make([]float64, len(q.Ends)), make([]float64, len(q.Ends)), rows.Walk()
		return func(person int) error {
			s, p := walk.At(person)
			q.person(in, squares, s, p)
			return h.Add(in, squares)
		}
	}, src)
	if err != nil {
		return nil, err
	}
	return q.release(noisy)
}

// checkListed refuses data that show a return which is not listed, where all mass is stated to be
// in the bins.
func (q *distributionQuestion) checkListed(s *value.Sample) error {
	if !q.Whole || !q.Discrete {
		return nil
	}
	others := 0
	for e := range s.Data.Episodes() {
		if _, listed := q.bin(s.Return(e)); !listed {
			others++
		}
	}
	if others > 0 {
		return fmt.Errorf("%w: problem.records is complete and method.discrete says that every return is one of ends, and that of %d of %d episodes is not; list it, or leave one of the two out", ErrData, others, s.Data.Episodes())
	}
	return nil
}

// person writes what one person adds.
func (q *distributionQuestion) person(in, squares []float64, s *value.Sample, person int) {
	clear(in)
	clear(squares)
	from, to := s.Episodes(person)
	n := float64(s.Data.Counted(person))
	for e := from; e < to; e++ {
		if s.Cut(e, q.public.decisions()) {
			continue
		}
		bin, ok := q.bin(s.Return(e))
		if !ok {
			continue
		}
		w := min(s.TrajectoryRatio(e), q.Most)
		in[bin] += w / n
		squares[bin] += w * w / n
	}
}

// rounding is by how much of the range's width a sum of rewards may differ from the number that
// it stands for: 0.1 + 0.2 lies above 0.3.
const rounding = 1e-9

// bin is that of a return, cut to the public range; one that is an end but for rounding is at it.
func (q *distributionQuestion) bin(g float64) (int, bool) {
	g, slack := min(max(g, q.returns.Min), q.returns.Max), rounding*q.returns.Width()
	bin, _ := slices.BinarySearch(q.Ends, g-slack)
	if q.Discrete {
		return bin, bin < len(q.Ends) && math.Abs(q.Ends[bin]-g) <= slack
	}
	return bin, !math.IsNaN(g)
}
