package evaluate

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// isLinear tells whether the model of [DPFQE] is linear in the features: where that is asked
// for, or where they are not over numbered states and nothing else is.
func (m DPFQE) isLinear(p Public) bool {
	if fqe.IsLinear(m.Form) {
		return true
	}
	_, finite := p.Features.(feature.Finite)
	return p.Features != nil && !finite && (m.Form == "" || m.Form == "auto")
}

// linearFor is the linear model. Form auto weights decisions by their ratios, which takes any
// target and was better where noise leaves much to tell; to tell two actions apart takes three
// times the noisy numbers.
func (m DPFQE) linearFor(method string, p Public, multiplier float64) (*fqe.Linear, error) {
	f := p.Features
	if f == nil {
		return nil, fmt.Errorf("%w: %s needs features; give them as tabular, aggregate, columns or fourier", ErrPublic, method)
	}
	if norm := f.NormBound(); math.IsInf(norm, 0) || !(norm > 0) {
		return nil, fmt.Errorf("%w: %s: features have no bound on their norm; give columns a range (low, high)", ErrPublic, method)
	}
	l := &fqe.Linear{Public: p.numbers(), Form: fqe.LinearByState, Dim: f.Dim(), Norm: f.NormBound(), Decisions: p.decisions(), Discounts: p.Discounts, MaxWeight: 1, Multiplier: multiplier}
	if p.Discounts {
		l.Public.Gamma = 1
	}
	switch {
	case m.Form == fqe.LinearByAction:
		if p.Target.Actions() == 0 {
			return nil, fmt.Errorf("%w: %s: form linear needs the target policy's probability of every action; give the policy as uniform, constant, table or softmax, or use form linear-state", ErrMethod, method)
		}
		l.Form, l.Actions = m.Form, p.Target.Actions()
	case policy.OnPolicy(p.Target):
	case m.MaxRatio != 0:
		l.MaxWeight = m.MaxRatio
	default:
		l.MaxWeight = defaultMaxRatio
	}
	if n := l.Coordinates(); n > largestTable {
		return nil, fmt.Errorf("%w: %s: %d features make %d moments; use at most %d, fewer features or form linear-state", ErrPublic, method, f.Dim(), n, largestTable)
	}
	return l, nil
}

// linearFacts are the numbers of the linear model.
func (d direct) linearFacts(plan *Plan) {
	l := d.linear
	plan.Facts["form"] = l.Form
	plan.Facts["coordinates"] = l.Coordinates()
	plan.Facts["model_norm"] = l.Most()
	plan.Facts["ridge"] = l.Penalty()
	if l.Form == fqe.LinearByState {
		plan.Facts["max_ratio"] = l.MaxWeight
	}
}

// describeLinear tells of the linear model.
func (d direct) describeLinear(plan *Plan) {
	d.linearFacts(plan)
	l := d.linear
	of := "features and action"
	if l.Form == fqe.LinearByState {
		of = "features, decisions weighted by their ratios"
	}
	plan.Notes = append(plan.Notes, "A plug-in estimate: the value is the prediction of a model, a ridge regression on "+of+", computed from noisy second moments step by step from the last decision. It is biased by an unknown amount if values are not linear in the features, if more than these and the number of decisions left matters, or where the penalty, which is set for the noise, shrinks values towards their mean; nothing here bounds that bias. The standard deviations are the model's own and assume that it is right."+endWords(l.Decisions))
	if l.Decisions > 1 {
		plan.Notes = append(plan.Notes, "Whoever was cut off before the last decision is taken to be as at the last one recorded.")
	}
}

// fitsLinear holds data against what the linear model needs of them.
func (d direct) fitsLinear(p Public, data *trajectory.Dataset) error {
	if d.linear.Form == fqe.LinearByAction {
		if data.Action == nil {
			return fmt.Errorf("%w: a model by action needs the logged actions; map the column action", ErrData)
		}
		bound, err := p.Target.Bind(data)
		if err != nil {
			return err
		}
		if bound.Actions() != d.linear.Actions {
			return fmt.Errorf("%w: form linear needs the target policy's probability of each of %d actions at every decision, and here it tells those of %d; use form linear-state", ErrData, d.linear.Actions, bound.Actions())
		}
	}
	return checkCapacity(data.Persons(), max(d.linear.Coordinates(), 6))
}

// saysLinear makes the releases of the linear model.
func (d direct) saysLinear(s *value.Sample, src *noise.Source) (*fqe.LinearModel, []fqe.LinearValue, fqe.Mean, error) {
	model, err := d.linear.Release(s, 1, src)
	if err != nil {
		return nil, nil, fqe.Mean{}, err
	}
	values := model.Induct()
	start, err := d.start.ReleaseLinear(*d.linear, s, values[len(values)-1], src)
	return model, values, start, err
}

// plugInLinear makes the releases of the linear model and reads them.
func (d direct) plugInLinear(s *value.Sample, src *noise.Source) (plugIn, error) {
	model, values, start, err := d.saysLinear(s, src)
	if err != nil {
		return plugIn{}, err
	}
	last := values[len(values)-1]
	private, sampling := model.Errors(values)
	return plugIn{
		Value: start.Value, StdSampling: math.Hypot(sampling, start.StdSampling), StdPrivacy: math.Hypot(private, start.StdPrivacy),
		Constant: &last.Constant, Weights: last.Weights,
	}, nil
}

// plausibleLinear refuses what no linear model says.
func (d direct) plausibleLinear(m plugIn) error {
	l := d.linear
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
