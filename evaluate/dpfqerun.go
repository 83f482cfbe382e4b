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

// direct is a planned run of [DPFQE].
type direct struct {
	table       fqe.Table
	linear      *fqe.Linear // in place of the table, where the model is linear
	start       fqe.Start
	target      []float64
	bounds      *scalar.Bounds // nil where no interval is paid for
	vouched     vouched
	tier        tier
	multipliers []float64
	shares      []float64
}

// prepare binds the plan to data.
func (d direct) prepare(p Public, data *trajectory.Dataset) (draw, error) {
	if err := d.fits(p, data); err != nil {
		return nil, err
	}
	s, err := sampleFor(data, p)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, src *noise.Source) (*Release, error) { return d.run(s, src) }, nil
}

// fits holds data against what the model needs of them.
func (d direct) fits(p Public, data *trajectory.Dataset) error {
	if err := feature.Check(p.Features, data); err != nil {
		return err
	}
	if d.linear != nil {
		return d.fitsLinear(p, data)
	}
	if d.table.Form == fqe.ByAction && data.Action == nil {
		return fmt.Errorf("%w: a model by action needs the logged actions; map the column action", ErrData)
	}
	return checkCapacity(data.Persons(), max(d.table.Coordinates(), 6))
}

// says makes the releases of the model.
func (d direct) says(s *value.Sample, src *noise.Source) (*fqe.Model, fqe.Values, fqe.Mean, error) {
	model, err := d.table.Release(s, 1, src)
	if err != nil {
		return nil, fqe.Values{}, fqe.Mean{}, err
	}
	values := model.Induct(d.target)
	start, err := d.start.Release(d.table, s, values.Last(), src)
	return model, values, start, err
}

// run makes the releases in the order of the event.
func (d direct) run(s *value.Sample, src *noise.Source) (*Release, error) {
	said, err := d.plugIn(s, src)
	if err != nil {
		return nil, err
	}
	var e *scalar.Estimate
	if d.bounds != nil {
		x, z := make([]float64, s.Data.Persons()), make([]float64, s.Data.Persons())
		d.vouched.each(x, z, s)
		if e, err = d.bounds.Run(x, z, src); err != nil {
			return nil, err
		}
	}
	return d.release(e, said), nil
}

// plugIn makes the releases of the model and reads them.
func (d direct) plugIn(s *value.Sample, src *noise.Source) (plugIn, error) {
	if d.linear != nil {
		return d.plugInLinear(s, src)
	}
	model, values, start, err := d.says(s, src)
	if err != nil {
		return plugIn{}, err
	}
	private, sampling := model.Errors(values, d.target)
	return plugIn{
		Value: start.Value, StdSampling: math.Hypot(sampling, start.StdSampling), StdPrivacy: math.Hypot(private, start.StdPrivacy),
		States: values.Last(), Actions: values.LastByAction(),
	}, nil
}

// plugIn is what a model says, as a release tells it: all of it follows from noisy
// sums.
type plugIn struct {
	Value       float64   `json:"value"`
	StdSampling float64   `json:"std_sampling"`
	StdPrivacy  float64   `json:"std_privacy"`
	States      []float64 `json:"state_values,omitempty"`
	Actions     []float64 `json:"action_values,omitempty"` // of each action in each state
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
	if err := d.plausible(m); err != nil {
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

// plausible refuses what no model says.
func (d direct) plausible(m plugIn) error {
	if !(m.StdSampling >= 0) || !(m.StdPrivacy > 0) || math.IsInf(m.StdSampling+m.StdPrivacy, 0) {
		return errors.New("diagnostics.model: standard deviations are missing")
	}
	if d.linear != nil {
		return d.plausibleLinear(m)
	}
	within := d.table.Bounds(d.table.Decisions)
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range append(append([]float64{m.Value}, m.States...), m.Actions...) {
		if !(v >= within.Min && v <= within.Max) {
			return fmt.Errorf("diagnostics.model: value %v is outside [%v, %v]", v, within.Min, within.Max)
		}
	}
	for _, v := range m.States {
		low, high = min(low, v), max(high, v)
	}
	places, actions := d.table.Size()
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
