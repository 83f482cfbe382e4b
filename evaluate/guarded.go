package evaluate

import (
	"context"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// vouched says what a person adds off-policy: the reward and the loss that their weight
// vouches for, in shares of a range.
type vouched struct {
	each           func(x, z []float64, s *value.Sample)
	within         facts.Range  // what the shares 0 and 1 stand for
	selfNormalised bool         // the value is the ratio of sums
	stepwise       bool         // rewards are weighted decision by decision
	needsEnds      bool         // it matters how episodes end
	confounding    float64      // by how much hidden circumstances may move odds; 0 for none
	behavior       propensities // estimates the probabilities of logged actions; nil where they are known
	weights        weightBound  // what the design says of weights
}

// wholeReturns weighs returns by the weights of whole trajectories.
func wholeReturns(p Public) vouched {
	numbers := p.numbers()
	numbers.Horizon = p.decisions()
	whole := scalar.WholeOf(numbers, p.Discounts)
	return vouched{within: whole.Returns, weights: p.weightsOf(false), each: whole.Contributions, needsEnds: p.decisions() > 1}
}

// stepByStep weighs every reward by the ratios up to its decision.
func stepByStep(p Public) vouched {
	numbers := p.numbers()
	numbers.Horizon = p.decisions()
	steps := scalar.StepwiseOf(numbers, p.Discounts)
	return vouched{within: steps.Range(), weights: p.weightsOf(true), each: steps.Contributions, stepwise: p.decisions() > 1, needsEnds: p.decisions() > 1}
}

// narrowest weighs step by step where rewards bound the return.
func narrowest(p Public) vouched {
	if p.decisions() > 1 && p.Return == nil {
		return stepByStep(p)
	}
	return wholeReturns(p)
}

// guarded is an estimate from below and above with a value between them.
type guarded interface {
	Run(s *value.Sample, x, z []float64, src *noise.Source) (*scalar.Estimate, error)
	Again(e *scalar.Estimate) (*scalar.Estimate, error)
}

// alone are bounds whose value needs no baseline.
type alone struct{ scalar.Bounds }

func (a alone) Run(_ *value.Sample, x, z []float64, src *noise.Source) (*scalar.Estimate, error) {
	return a.Bounds.Run(x, z, src)
}

func guardedBy(b scalar.Bounds, baseline *paidBaseline) guarded {
	if baseline == nil {
		return alone{b}
	}
	about := baseline.Baseline
	about.Noise = b.Noise.Baseline
	if about.Kind == scalar.BaselineModel {
		about.Model = baseline.model.payer()
	}
	return scalar.Filled{Bounds: b, Baseline: about}
}

// boundsApart are bounds for which persons can be looked at apart from each other: no
// baseline is paid for and no probability estimated from all of them.
func boundsApart(b scalar.Bounds, of vouched, p Public) *pairs {
	return &pairs{public: p, each: of.weigh, coordinates: 6, run: func(x, z []float64, src *noise.Source) (*Release, error) {
		e, err := b.Run(x, z, src)
		if err != nil {
			return nil, err
		}
		return withBehavior(e, nil)
	}}
}

// prepareGuarded binds the plan to data. Whatever may fail, fails here.
func prepareGuarded(g guarded, of vouched, baseline *paidBaseline, p Public, d *trajectory.Dataset) (draw, error) {
	var estimate *estimation
	if of.behavior != nil {
		var err error
		if estimate, d, err = p.estimator(of.behavior, d); err != nil {
			return nil, err
		}
	}
	if baseline != nil {
		if err := baseline.check(p, d); err != nil {
			return nil, err
		}
	}
	s, err := sampleFor(d, p)
	if err != nil {
		return nil, err
	}
	if err := checkCapacity(d.Persons(), 6); err != nil {
		return nil, err
	}
	x, z := make([]float64, d.Persons()), make([]float64, d.Persons())
	if of.behavior == nil {
		of.weigh(x, z, s)
	}
	return func(_ context.Context, src *noise.Source) (*Release, error) {
		var paid scalar.Estimate
		if of.behavior != nil {
			if err := estimate.pay(s, &paid, src); err != nil {
				return nil, err
			}
			if err := estimate.lower(s, &paid); err != nil {
				return nil, err
			}
			of.weigh(x, z, s)
		}
		e, err := g.Run(s, x, z, src)
		if err != nil {
			return nil, err
		}
		e.Counts, e.Rounds = paid.Counts, paid.Rounds
		return withBehavior(e, of.behavior)
	}, nil
}

// weigh writes what persons add.
func (of vouched) weigh(x, z []float64, s *value.Sample) {
	if of.confounding > 1 {
		scalar.Confound(s, of.confounding)
	}
	of.each(x, z, s)
}
