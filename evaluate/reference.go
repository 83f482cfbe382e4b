package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// reference plans a method of a value function without privacy.
func reference(method string, p Public, compute func(s *value.Sample) (*Release, error)) (*Plan, error) {
	return bareReference(method, p.byStates(), compute)
}

// bareReference plans a method without privacy. What it releases protects nobody.
func bareReference(method string, p Public, compute func(s *value.Sample) (*Release, error)) (*Plan, error) {
	p = p.clone()
	if p.Privacy != nil {
		return nil, fmt.Errorf("%w: %s has no privacy; say `privacy: none` to run it as a reference, or choose one of the dp- methods", ErrMethod, method)
	}
	if err := p.single(method); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	prepare := func(_ context.Context, d *trajectory.Dataset) (draw, error) {
		if p.Features != nil {
			if err := feature.Check(p.Features, d); err != nil {
				return nil, err
			}
		}
		s, err := sampleFor(d, p)
		if err != nil {
			return nil, err
		}
		return func(context.Context, *noise.Source) (*Release, error) {
			r, err := compute(s)
			if err == nil {
				r.Diagnostics = weightFacts(s)
				r.Notes, err = doubts(p, r)
			}
			return r, err
		}, nil
	}
	plan, err := newPlan(method, p, nil, prepare)
	if err != nil {
		return nil, err
	}
	plan.outcome = referenceAgain(p, functionAgain(p.Features, nil))
	plan.Notes = []string{"This is a reference without privacy: it may reveal the data of single persons."}
	return plan, nil
}

// scalarReference is a reference that releases a number.
func scalarReference(method string, p Public, compute func(s *value.Sample) (*Release, error)) (*Plan, error) {
	plan, err := bareReference(method, p, compute)
	if err == nil {
		plan.outcome = referenceAgain(p, numberAgain)
	}
	return plan, err
}

// numberAgain makes the release of a number again from its value and its error.
func numberAgain(r *Release) (*Release, error) {
	if r.Estimate == nil {
		return nil, errors.New("estimate is missing")
	}
	return number(r.Estimate.Value, r.Estimate.StdSampling), nil
}

// average is the release of a mean over persons with its standard error.
func average(x []float64) *Release {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v
	}
	m := float64(len(x))
	mean /= m
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return number(mean, math.Sqrt(variance/max(m-1, 1)/m))
}

func number(v, sampling float64) *Release {
	return &Release{Estimate: &Estimate{
		Value:       v,
		Interval:    scalar.Interval(v, sampling, 0),
		Confidence:  0.95,
		StdSampling: sampling,
		Sampling:    NotPrivate,
	}}
}

// IS is importance sampling of whole trajectories, without privacy ([value.IS]).
type IS struct{}

// Plan implements [Estimator].
func (IS) Plan(p Public) (*Plan, error) {
	return scalarReference("is", p, func(s *value.Sample) (*Release, error) {
		num, den := make([]float64, s.Data.Persons()), make([]float64, s.Data.Persons())
		value.ISContributions(num, den, s)
		return average(num), nil
	})
}

// PDIS is per-decision importance sampling, without privacy ([value.PDIS]).
type PDIS struct{}

// Plan implements [Estimator].
func (PDIS) Plan(p Public) (*Plan, error) {
	return scalarReference("pdis", p, func(s *value.Sample) (*Release, error) {
		x := make([]float64, s.Data.Persons())
		value.PDISContributions(x, s)
		return average(x), nil
	})
}

// WIS is weighted importance sampling, without privacy ([value.WIS]). Its
// standard error is that of the linearised ratio.
type WIS struct{}

// Plan implements [Estimator].
func (WIS) Plan(p Public) (*Plan, error) {
	return scalarReference("wis", p, func(s *value.Sample) (*Release, error) {
		v, err := value.WIS(s)
		if err != nil {
			return nil, err
		}
		num, den := make([]float64, s.Data.Persons()), make([]float64, s.Data.Persons())
		value.ISContributions(num, den, s)
		squares, total := 0.0, 0.0
		for i := range num {
			e := num[i] - v*den[i]
			squares += e * e
			total += den[i]
		}
		return number(v, math.Sqrt(squares)/total), nil
	})
}

// DR is the doubly robust estimate, without privacy ([value.DR]). Its model of
// action values is fitted to the same data: for logs of one-row episodes the
// action's mean reward, drawn to the overall mean; otherwise the value function
// of LSTD, whatever the action.
type DR struct {
	// Prior is the weight, in rows, of the overall mean in an action's mean. 0
	// means 100.
	Prior float64 `json:"prior,omitempty"`
}

// Plan implements [Estimator].
func (m DR) Plan(p Public) (*Plan, error) {
	if m.Prior < 0 {
		return nil, fmt.Errorf("%w: dr: prior is %v; want 0 or above", ErrMethod, m.Prior)
	}
	return scalarReference("dr", p.asking(m), func(s *value.Sample) (*Release, error) {
		q, err := m.model(s)
		if err != nil {
			return nil, err
		}
		x := make([]float64, s.Data.Persons())
		if err := value.DRContributions(x, s, q); err != nil {
			return nil, err
		}
		return average(x), nil
	})
}

func (m DR) model(s *value.Sample) (value.QModel, error) {
	if s.Data.Rows() > s.Data.Episodes() {
		if s.Data.Terminated == nil {
			return nil, errEnds("dr", "every last decision would be left out with its reward")
		}
		theta, err := value.LSTD{Weighting: value.ByTransition}.Solve(s)
		if err != nil {
			return nil, err
		}
		return &stateBaseline{theta: theta, actions: s.Policy.Actions(), phi: make([]float64, s.Dim)}, nil
	}
	prior := m.Prior
	if prior == 0 {
		prior = defaultPrior
	}
	return value.ShrunkenActionMeans(s, s.Policy.Actions(), prior)
}

// stateBaseline is a value function that stands for every action's value.
type stateBaseline struct {
	theta   []float64
	actions int
	phi     []float64
}

// Actions implements [value.QModel].
func (b *stateBaseline) Actions() int { return b.actions }

// Q implements [value.QModel].
func (b *stateBaseline) Q(dst []float64, s *value.Sample, row int) {
	v := 0.0
	for i, x := range s.Feature(b.phi, row) {
		v += x * b.theta[i]
	}
	for a := range dst {
		dst[a] = v
	}
}

// function is the release of a value function.
func function(s *value.Sample, theta []float64, err error) (*Release, error) {
	if err != nil {
		return nil, err
	}
	r := &Release{Theta: theta}
	if s.Cell != nil {
		r.Values, err = value.StateValues(s, theta)
	}
	return r, err
}

// LSW is least squares on first-visit returns, without privacy ([value.LSW]).
type LSW struct {
	// Weights holds w_s >= 0 by state; nil means 1 everywhere.
	Weights []float64 `json:"weights,omitempty"`
}

// Plan implements [Estimator].
func (m LSW) Plan(p Public) (*Plan, error) {
	return reference("lsw", p.asking(m), func(s *value.Sample) (*Release, error) {
		theta, err := value.LSW{Weights: m.Weights}.Solve(s)
		return function(s, theta, err)
	})
}

// LSL is visit-weighted, penalised least squares on first-visit returns, without
// privacy ([value.LSL]).
type LSL struct {
	// Weights holds rho_s >= 0 by state; nil means 1 everywhere.
	Weights []float64 `json:"weights,omitempty"`
	// Lambda is the penalty. 0 means 1.
	Lambda float64 `json:"lambda,omitempty"`
}

// Plan implements [Estimator].
func (m LSL) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
	if m.Lambda == 0 {
		m.Lambda = defaultLambda
	}
	return reference("lsl", p, func(s *value.Sample) (*Release, error) {
		theta, err := value.LSL{Weights: m.Weights, Lambda: m.Lambda}.Solve(s)
		return function(s, theta, err)
	})
}

// LSTD is least-squares temporal differences, without privacy ([value.LSTD]).
type LSTD struct {
	// Weighting is "transition" (the default) or "trajectory".
	Weighting string `json:"weighting,omitempty"`
}

// Plan implements [Estimator].
func (m LSTD) Plan(p Public) (*Plan, error) {
	weighting := value.ByTransition
	if m.Weighting != "" {
		var err error
		if weighting, err = value.ParseWeighting(m.Weighting); err != nil {
			return nil, fmt.Errorf("%w: lstd: %w", ErrMethod, err)
		}
	}
	return bootstrapping(reference("lstd", p.asking(m), func(s *value.Sample) (*Release, error) {
		theta, err := value.LSTD{Weighting: weighting}.Solve(s)
		return function(s, theta, err)
	}))
}
