package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// table is the model over numbered states.
type table struct {
	fqe.Table
	target []float64 // probability of every action in every cell, of form action
}

// facts implements [model].
func (t table) facts() map[string]any {
	return map[string]any{"form": t.Form, "coordinates": t.Coordinates(), "model_norm": t.Most()}
}

// notes implements [model].
func (t table) notes() []string {
	rows := "decision, weighted by its ratio, with all states pooled"
	switch t.Form {
	case fqe.ByAction:
		rows = "action in each state"
	case fqe.ByState:
		rows = "state, weighted by the ratio of the decision"
	}
	return []string{"A plug-in estimate: the value is the prediction of a model that is computed from noisy counts of what followed each " + rows + ". It is biased by an unknown amount if more than the numbered state and the number of decisions left matters, and nothing here bounds that bias. The standard deviations are the model's own and assume that it is right." + endWords(t.Decisions)}
}

// fits implements [model].
func (t table) fits(_ Public, data *trajectory.Dataset) error {
	if t.Form == fqe.ByAction && data.Action == nil {
		return errNoActions
	}
	return nil
}

var errNoActions = fmt.Errorf("%w: a model by action needs the logged actions; map the column action", ErrData)

// say implements [model].
func (t table) say(s value.Persons, start fqe.Start, src *noise.Source) (plugIn, func() (private, sampling float64), error) {
	model, err := t.Release(s, src)
	if err != nil {
		return plugIn{}, nil, err
	}
	values := model.Induct(t.target)
	mean, err := start.Release(t.Table, s, values.Last(), src)
	return plugIn{Mean: mean, States: values.Last(), Actions: values.LastByAction()},
		func() (float64, float64) { return model.Errors(values, t.target) }, err
}

// plausible implements [model].
func (t table) plausible(m plugIn) error {
	within := t.Bounds(t.Decisions)
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range append(append([]float64{m.Value}, m.States...), m.Actions...) {
		if !(v >= within.Min && v <= within.Max) {
			return fmt.Errorf("diagnostics.model: value %v is outside [%v, %v]", v, within.Min, within.Max)
		}
	}
	for _, v := range m.States {
		low, high = min(low, v), max(high, v)
	}
	places, actions := t.Size()
	switch {
	case len(m.States) != places || len(m.Actions) != actions*places:
		return fmt.Errorf("diagnostics.model: %d and %d values for %d states and %d actions", len(m.States), len(m.Actions), places, actions)
	case m.Value < low || m.Value > high:
		return fmt.Errorf("diagnostics.model: value %v is outside those of the states, [%v, %v]", m.Value, low, high)
	case m.Constant != nil || m.Weights != nil:
		return errors.New("diagnostics.model: a table has no weights of features")
	}
	return nil
}

// isLinear tells whether the model of [DPFQE] is linear in the features: where that is asked
// for, or where they are not over numbered states and nothing else is.
func (m DPFQE) isLinear(p Public) bool {
	if fqe.IsLinear(m.Form) {
		return true
	}
	_, finite := p.Features.(feature.Finite)
	return p.Features != nil && !finite && (m.Form == "" || m.Form == "auto")
}

// linear is the model that is linear in the features.
type linear struct{ fqe.Linear }

// linearFor is the linear model. Form auto weights decisions by their ratios, which takes any
// target and was better where noise leaves much to tell; to tell two actions apart takes three
// times the noisy numbers.
func (m DPFQE) linearFor(method string, p Public, multiplier float64) (model, error) {
	f := p.Features
	if f == nil {
		return nil, fmt.Errorf("%w: %s needs features; give them as tabular, aggregate, columns or fourier", ErrPublic, method)
	}
	if norm := f.NormBound(); math.IsInf(norm, 0) || !(norm > 0) {
		return nil, fmt.Errorf("%w: %s: features have no bound on their norm; give columns a range (low, high)", ErrPublic, method)
	}
	l := linear{fqe.Linear{Public: p.numbers(), Form: fqe.LinearByState, Dim: f.Dim(), Norm: f.NormBound(), Decisions: p.decisions(), Discounts: p.Discounts, MaxWeight: m.maxRatio(p), Multiplier: multiplier}}
	if p.Discounts {
		l.Public.Gamma = 1
	}
	if m.Form == fqe.LinearByAction {
		if p.Target.Actions() == 0 {
			return nil, fmt.Errorf("%w: %s: form linear needs the target policy's probability of every action; give the policy as uniform, constant, table or softmax, or use form linear-state", ErrMethod, method)
		}
		l.Form, l.Actions, l.MaxWeight = m.Form, p.Target.Actions(), 1
	}
	if n := l.Coordinates(); n > largestTable {
		return nil, fmt.Errorf("%w: %s: %d features make %d moments; use at most %d, fewer features or form linear-state", ErrPublic, method, f.Dim(), n, largestTable)
	}
	return l, nil
}

// facts implements [model].
func (l linear) facts() map[string]any {
	facts := map[string]any{"form": l.Form, "coordinates": l.Coordinates(), "model_norm": l.Most(), "ridge": l.Penalty()}
	if l.Form == fqe.LinearByState {
		facts["max_ratio"] = l.MaxWeight
	}
	return facts
}

// notes implements [model].
func (l linear) notes() []string {
	of := "features and action"
	if l.Form == fqe.LinearByState {
		of = "features, decisions weighted by their ratios"
	}
	notes := []string{"A plug-in estimate: the value is the prediction of a model, a ridge regression on " + of + ", computed from noisy second moments step by step from the last decision. It is biased by an unknown amount if values are not linear in the features, if more than these and the number of decisions left matters, or where the penalty, which is set for the noise, shrinks values towards their mean; nothing here bounds that bias. The standard deviations are the model's own and assume that it is right." + endWords(l.Decisions)}
	if l.Decisions > 1 {
		notes = append(notes, "Whoever was cut off before the last decision is taken to be as at the last one recorded.")
	}
	return notes
}

// fits implements [model].
func (l linear) fits(p Public, data *trajectory.Dataset) error {
	if l.Form != fqe.LinearByAction {
		return nil
	}
	if data.Action == nil {
		return errNoActions
	}
	bound, err := p.Target.Bind(data)
	if err == nil && bound.Actions() != l.Actions {
		err = fmt.Errorf("%w: form linear needs the target policy's probability of each of %d actions at every decision, and here it tells those of %d; use form linear-state", ErrData, l.Actions, bound.Actions())
	}
	return err
}

// say implements [model].
func (l linear) say(s value.Persons, start fqe.Start, src *noise.Source) (plugIn, func() (private, sampling float64), error) {
	model, err := l.Release(s, src)
	if err != nil {
		return plugIn{}, nil, err
	}
	values := model.Induct()
	last := values[len(values)-1]
	mean, err := start.ReleaseLinear(l.Linear, s, last, src)
	return plugIn{Mean: mean, Constant: &last.Constant, Weights: last.Weights}, func() (float64, float64) { return model.Errors(values) }, err
}

// plausible implements [model].
func (l linear) plausible(m plugIn) error {
	within := l.Bounds(l.Decisions)
	switch {
	case m.Constant == nil || len(m.Weights) != l.Weights():
		return fmt.Errorf("diagnostics.model: found %d weights; want a constant and %d", len(m.Weights), l.Weights())
	case m.States != nil || m.Actions != nil:
		return errors.New("diagnostics.model: a linear model has no values by state")
	case !(*m.Constant >= within.Min && *m.Constant <= within.Max):
		return fmt.Errorf("diagnostics.model: constant %v is outside [%v, %v]", *m.Constant, within.Min, within.Max)
	}
	for i, w := range m.Weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return fmt.Errorf("diagnostics.model: weight %d is %v", i, w)
		}
	}
	of := l.Within(fqe.LinearValue{Constant: *m.Constant, Weights: m.Weights})
	if slack := 1e-9 * within.Width(); !(m.Value >= of.Min-slack && m.Value <= of.Max+slack) {
		return fmt.Errorf("diagnostics.model: value %v is outside [%v, %v], which its weights allow", m.Value, of.Min, of.Max)
	}
	return nil
}

// direct is a planned run of [DPFQE].
type direct struct {
	model         model
	start         fqe.Start
	bounds        *scalar.Bounds // nil where no interval is paid for
	vouched       vouched
	tier          tier
	shares, noise scalar.Stages // of model (baseline), first states and interval
}

// model is a table or linear in the features.
type model interface {
	Coordinates() int // noisy numbers
	// facts repeat the model, and notes say what its answer rests on.
	facts() map[string]any
	notes() []string
	// fits holds data against what the model needs of them.
	fits(p Public, d *trajectory.Dataset) error
	// say makes the releases of the model and of the mean over first states, and reads them:
	// the errors of the model by noise and by sampling are computed where they are asked for.
	say(s value.Persons, start fqe.Start, src *noise.Source) (said plugIn, errors func() (private, sampling float64), err error)
	// plausible refuses what no model says.
	plausible(m plugIn) error
}

// preparation binds the plan to data.
func (d direct) preparation(p Public) preparation {
	m := byPerson{
		public: p, rows: true, moves: true, coordinates: max(d.model.Coordinates(), 6),
		check: func(data *trajectory.Dataset) error { return fits(d.model, p, data) },
		run: func(xz []scalar.Numbers, rows *value.Samples) (draw, error) {
			return func(_ context.Context, src *noise.Source) (*Release, error) { return d.run(xz, rows, src) }, nil
		},
	}
	if d.bounds != nil {
		m.numbers = 2
		m.each = func(xz [][]float64, part []*value.Sample) error {
			d.vouched.each(xz[0], xz[1], part[0])
			return nil
		}
	}
	return m.preparation()
}

// fits holds data against what a model needs of them.
func fits(m model, p Public, data *trajectory.Dataset) error {
	if err := feature.Check(p.Features, data); err != nil {
		return err
	}
	return m.fits(p, data)
}

// run makes the releases in the order of the event.
func (d direct) run(xz []scalar.Numbers, s value.Persons, src *noise.Source) (*Release, error) {
	said, errors, err := d.model.say(s, d.start, src)
	if err != nil {
		return nil, err
	}
	private, sampling := errors()
	said.StdSampling, said.StdPrivacy = math.Hypot(sampling, said.StdSampling), math.Hypot(private, said.StdPrivacy)
	var e *scalar.Estimate
	if d.bounds != nil {
		if e, err = d.bounds.Run(xz[0], xz[1], src); err != nil {
			return nil, err
		}
	}
	return d.release(e, said), nil
}

// plugIn is what a model says, as a release tells it: all of it follows from noisy
// sums.
type plugIn struct {
	fqe.Mean
	States  []float64 `json:"state_values,omitempty"`
	Actions []float64 `json:"action_values,omitempty"` // of each action in each state
	// Constant and Weights are those of a linear model.
	Constant *float64  `json:"constant,omitempty"`
	Weights  []float64 `json:"weights,omitempty"`
}

// release is what the model says, in the interval of the bounds.
func (d direct) release(bounds *scalar.Estimate, m plugIn) *Release {
	within := d.start.Public.Returns
	e := &scalar.Estimate{Interval: [2]float64{within.Min, within.Max}}
	if bounds != nil {
		copied := *bounds
		e = &copied
		e.Undetermined, e.Clipping = false, [2]float64{}
	}
	e.Value = min(max(m.Value, e.Interval[0]), e.Interval[1])
	e.StdSampling, e.StdPrivacy = m.StdSampling, m.StdPrivacy
	r := estimated(e)
	r.Diagnostics["model"] = m
	if e.Value != m.Value {
		r.Notes = append(r.Notes, fmt.Sprintf("The model predicts %.4g, which lies outside the interval, so the value was moved to the nearer end of the interval. Either the model is wrong, or this interval is one of the 5%% that miss the value.", m.Value))
	}
	return r
}

// again makes a release again, from the sums of the bounds and from what the model
// says.
func (d direct) again(r *Release) (*Release, error) {
	e, err := paid(r)
	if err != nil {
		return nil, err
	}
	var m plugIn
	if err := diagnostic(r, "model", &m); err != nil {
		return nil, err
	}
	if !(m.StdSampling >= 0) || !(m.StdPrivacy > 0) || math.IsInf(m.StdSampling+m.StdPrivacy, 0) {
		return nil, errors.New("diagnostics.model: standard deviations are missing")
	}
	if err := d.model.plausible(m); err != nil {
		return nil, err
	}
	if d.bounds == nil {
		return d.release(nil, m), nil
	}
	if e, err = d.bounds.Again(e); err != nil {
		return nil, err
	}
	return d.release(e, m), nil
}
