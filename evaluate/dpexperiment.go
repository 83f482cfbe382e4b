package evaluate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/experiment"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/xmath"
	"github.com/discreet-rl/discreet/rl/feature"
)

// DPExperiment compares the arms of a randomised experiment, which are the groups of [Public.By]:
// mean outcomes (returns), their differences from the control and lifts.
//
// A person adds the share of the range of a return that their usable episodes are known to
// reach, and the share that these are known to miss: the guard of [DPIS] without weights. Arms
// are disjoint and have the budget in parallel. Whose arm cannot be told is counted with noise, and
// limits allow for any of them in any arm.
//
// Where [Public.Features] are one column, it is a covariate from before the experiment: its noisy
// moments, over all arms, fix a slope, and outcomes less the slope times the covariate make the
// differences (Deng, Xu, Kohavi and Walker 2013). The slope is public then, so that limits hold at any.
//
// Released: an answer for each arm and each difference, all limits of which hold together with
// 95%, and [Experiment]. Unit: a person. Adjacency: either. Assumes: arms that were drawn
// independently of outcomes and covariate. Clip: the public range of a return, and of the covariate. Event:
// dp.Gaussian, that of one arm. Proof: docs/proofs/experiment.md.
type DPExperiment struct {
	// Control is the name of the group that the others are compared with.
	Control string `json:"control,omitempty"`
	// Allocation is with which probability each arm was drawn, by name; nil where nothing is
	// to be held against it.
	Allocation map[string]float64 `json:"allocation,omitempty"`
	// DifferencesOnly leaves the means of arms out, and lifts with them, which makes
	// differences narrower.
	DifferencesOnly bool `json:"differences_only,omitempty"`
	// Guess is what is publicly supposed, for the forecast alone.
	Guess ExperimentGuess `json:"guess,omitzero"`
}

// UnmarshalJSON implements [json.Unmarshaler]: arms are often called 0 and 1, and a control may be a number.
func (m *DPExperiment) UnmarshalJSON(text []byte) error {
	type plain DPExperiment
	aux := struct {
		*plain
		Control any `json:"control"`
	}{plain: (*plain)(m)}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&aux); err != nil {
		return err
	}
	switch c := aux.Control.(type) {
	case nil:
	case string, float64:
		m.Control = fmt.Sprint(c)
	default:
		return fmt.Errorf("control is %v; want the name of an arm", c)
	}
	return nil
}

// ExperimentGuess is what is publicly supposed of outcomes.
type ExperimentGuess struct {
	// Mean is that of a person's outcome; 0 means the middle of its range.
	Mean float64 `json:"mean,omitempty"`
	// SD is its standard deviation; 0 means the largest for the mean, or between none and that.
	SD float64 `json:"sd,omitempty"`
	// Correlation is that with the covariate; 0 means a half.
	Correlation float64 `json:"correlation,omitempty"`
}

// Shares of the budget where there is a covariate. The adjusted outcomes have the rest.
const (
	covariateShare     = 0.1
	levelsShare        = 0.2
	defaultCorrelation = 0.5
)

// experimentQuestion is all that is fixed before data are seen.
type experimentQuestion struct {
	public  Public
	control int
	shares  []float64 // of the allocation, by arm; nil where none is given
	levels  bool
	guess   ExperimentGuess
	// covariate is the column, within; "" where there is none.
	covariate string
	within    Range
	// noise multipliers; 0 where the stage is left out. All are of AddRemoveOne.
	moments, outcomes, adjusted, unassigned float64
}

// Plan implements [Estimator].
func (m DPExperiment) Plan(p Public) (*Plan, error) {
	return planned("dp-experiment", m, p, m.draft)
}

func (m DPExperiment) draft(method string, p Public) (draft, error) {
	q, err := m.question(method, p)
	if err != nil {
		return draft{}, err
	}
	whole, err := multipliers(*p.Privacy, 1)
	if err != nil {
		return draft{}, err
	}
	s, err := q.about()
	if err != nil {
		return draft{}, err
	}
	return draft{method: method, public: p, event: gaussians(whole...), drawn: q.drawn(), prepare: q.preparation(), outcome: q.again, summary: s, needsEnds: p.decisions() > 1}, nil
}

// question checks the parameters.
func (m DPExperiment) question(method string, p Public) (experimentQuestion, error) {
	q := experimentQuestion{public: p, levels: !m.DifferencesOnly, guess: m.Guess}
	refuse := func(sentinel error, text string, args ...any) (experimentQuestion, error) {
		return q, fmt.Errorf("%w: %s: "+text, append([]any{sentinel, method}, args...)...)
	}
	switch {
	case !p.groups().some():
		return refuse(ErrPublic, "which arm a person is in is not said; give by: its column and the values that are arms")
	case !p.onPolicy():
		return refuse(ErrPublic, "it compares arms as they were, and the target is another policy; leave target out, or make it {kind: logged}")
	case !(p.Returns().Width() > 0):
		return refuse(ErrPublic, "the public range of a return is a single point; give problem.reward or problem.return a width")
	}
	if q.control = p.By.find(m.Control); q.control < 0 {
		return refuse(ErrMethod, "control is %q; want one of %s", m.Control, strings.Join(p.By.labels(), ", "))
	}
	if err := q.allocate(m.Allocation); err != nil {
		return q, fmt.Errorf("%w: %s: %w", ErrMethod, method, err)
	}
	r, g := p.Returns(), m.Guess
	if g.Mean != 0 && !(g.Mean > r.Min && g.Mean < r.Max) || !(g.SD >= 0 && g.SD <= r.Width()/2) || !(math.Abs(g.Correlation) < 1) {
		return refuse(ErrMethod, "guess is %+v; want a mean within the range of a return, %v to %v, an sd of at most half of its width, and a correlation between -1 and 1", g, r.Min, r.Max)
	}
	if err := q.reads(p.Features); err != nil {
		return q, fmt.Errorf("%w: %s: %w", ErrPublic, method, err)
	}
	return q, q.divide()
}

// find is the group of that name, or of the value that its name ends with; -1 for none.
func (g Groups) find(name string) int {
	names := g.labels()
	if i := slices.Index(names, name); i >= 0 || name == "" {
		return i
	}
	return slices.IndexFunc(names, func(own string) bool { return strings.HasSuffix(own, " = "+name) })
}

func (g Groups) labels() (names []string) {
	for _, a := range g.Of {
		names = append(names, a.Name)
	}
	return names
}

// allocate puts the shares of arms in their order.
func (q *experimentQuestion) allocate(of map[string]float64) error {
	if of == nil {
		return nil
	}
	by, total := q.public.By, 0.0
	q.shares = make([]float64, len(by.Of))
	for name, share := range of {
		i := by.find(name)
		if i < 0 || q.shares[i] != 0 || !(share > 0 && share < 1) {
			return fmt.Errorf("allocation has %v for %q; want a probability between 0 and 1 for each of %s", share, name, strings.Join(by.labels(), ", "))
		}
		q.shares[i] = share
		total += share
	}
	if slices.Contains(q.shares, 0) || math.Abs(total-1) > 1e-6 {
		return fmt.Errorf("allocation adds up to %v over %d of %d arms; want 1, with every arm that by lists", total, len(of), len(by.Of))
	}
	return nil
}

// reads takes the features for the covariate.
func (q *experimentQuestion) reads(f feature.Map) error {
	if f == nil {
		return nil
	}
	var ranges []feature.Range
	if of, ok := f.(interface{ Ranges() []feature.Range }); ok {
		ranges = of.Ranges()
	} else if finite, ok := f.(feature.Finite); ok {
		ranges = []feature.Range{{High: float64(finite.States() - 1)}}
	}
	if len(ranges) != 1 {
		return fmt.Errorf("features are the covariate here, a single column with its public range: {kind: columns, names: [obs_before], low: [0], high: [10]}; leave others out")
	}
	q.covariate, q.within = f.Columns()[0], Range{ranges[0].Low, ranges[0].High}
	if q.covariate == q.public.By.Column {
		return fmt.Errorf("the covariate is %s, which is the arm; name a column from before the experiment", q.covariate)
	}
	return nil
}

// divide splits the budget.
func (q *experimentQuestion) divide() error {
	whole, err := q.public.Privacy.apart()
	if err != nil {
		return err
	}
	stage := func(share float64) float64 { return whole / math.Sqrt(share) * (1 + 0x1p-44) }
	if !q.public.Complete && !q.public.By.Fixed {
		q.unassigned = stage(1) // nobody is in an arm and in none
	}
	switch {
	case q.covariate == "":
		q.outcomes = stage(1)
	case q.levels:
		q.moments, q.outcomes, q.adjusted = stage(covariateShare), stage(levelsShare), stage(1-covariateShare-levelsShare)
	default:
		q.moments, q.adjusted = stage(covariateShare), stage(1-covariateShare)
	}
	return nil
}

// drawn is the event as noise is drawn for it.
func (q *experimentQuestion) drawn() dp.Event {
	var all []float64
	for _, m := range []float64{q.moments, q.unassigned} {
		if m != 0 {
			all = append(all, m)
		}
	}
	for range q.public.By.Of {
		for _, m := range []float64{q.outcomes, q.adjusted} {
			if m != 0 {
				all = append(all, m)
			}
		}
	}
	return gaussians(all...)
}

// numbers is how many intervals hold together.
func (q *experimentQuestion) numbers() int {
	n := len(q.public.By.Of)
	if q.levels {
		return 2*n - 1
	}
	return n - 1
}

// split makes an empty sum of an arm.
func (q *experimentQuestion) split(multiplier float64) (*mechanism.Split, error) {
	return mechanism.NewSplit(multiplier, dp.AddRemoveOne, q.public.Privacy.noise())
}

// reading is what sums of a stage are read with; multiplier is that of the stage.
func (q *experimentQuestion) reading(multiplier, absent float64) (experiment.Reading, error) {
	s, err := q.split(multiplier)
	if err != nil {
		return experiment.Reading{}, err
	}
	n := float64(q.numbers())
	r := experiment.Reading{Whole: q.public.Complete, Absent: absent, Z: xmath.NormQuantile(1 - (1-scalar.Confidence(1))/2/n), Unseen: 3 + math.Log(n)}
	r.SD, r.ProductSD = s.SD()
	if q.unassigned != 0 {
		h, err := mechanism.NewHistogram(1, q.unassigned, dp.AddRemoveOne, q.public.Privacy.noise())
		if err != nil {
			return r, err
		}
		r.AbsentSD = h.SD()
	}
	return r, nil
}

// adjustment follows from the noisy moments.
func (q *experimentQuestion) adjustment(sums []float64) (experiment.Adjustment, error) {
	r, err := q.reading(q.adjusted, 0)
	if err != nil {
		return experiment.Adjustment{}, err
	}
	plain := r
	if q.outcomes != 0 { // both stages would be about the same
		p, err := q.reading(q.outcomes, 0)
		if err != nil {
			return experiment.Adjustment{}, err
		}
		plain.SD = r.SD * p.SD / math.Hypot(r.SD, p.SD)
	}
	inverse, square := 0.0, 0.0
	for i := range q.public.By.Of {
		n := q.size(i)
		inverse += 1 / n
		square += 1 / (n * n)
	}
	return experiment.MomentsOf(sums).Adjustment(q.moments*math.Sqrt(experiment.Coordinates), r.Price()*square/inverse, plain.Price()*square/inverse), nil
}

// size is how many persons an arm is supposed to have.
func (q *experimentQuestion) size(i int) float64 {
	if n := q.public.By.Of[i].Persons; n > 0 {
		return float64(n)
	}
	if q.shares != nil {
		return max(q.shares[i]*float64(q.public.Persons), 1)
	}
	return float64(q.public.By.size(i, q.public.Persons))
}
