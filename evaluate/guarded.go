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
	precision      float64      // by how much recorded probabilities may be off; 0 for exact ones
	behavior       propensities // estimates the probabilities of logged actions; nil where they are known
	weights        weightBound  // what the design says of weights
	// steps or whole is what the shares are of.
	steps *scalar.Stepwise
	whole *scalar.Whole
}

// wholeReturns weighs returns by the weights of whole trajectories.
func wholeReturns(p Public) vouched {
	whole := scalar.WholeOf(p.perEpisode(), p.Discounts)
	return vouched{whole: &whole, within: whole.Returns, weights: p.weightsOf(false), precision: p.BehaviorPrecision, each: whole.Contributions, needsEnds: p.decisions() > 1}
}

// stepByStep weighs every reward by the ratios up to its decision.
func stepByStep(p Public) vouched {
	steps, several := scalar.StepwiseOf(p.perEpisode(), p.Discounts), p.decisions() > 1
	return vouched{steps: &steps, within: steps.Range(), weights: p.weightsOf(true), precision: p.BehaviorPrecision, each: steps.Contributions, stepwise: several, needsEnds: several}
}

// perEpisode are the numbers with the horizon of an episode, not of a person.
func (p Public) perEpisode() facts.Public {
	n := p.numbers()
	n.Horizon = p.decisions()
	return n
}

// narrowest weighs step by step where rewards bound the return.
func narrowest(p Public) vouched {
	if p.decisions() > 1 && p.Return == nil {
		return stepByStep(p)
	}
	return wholeReturns(p)
}

// guardedBy are bounds with the baseline that makes their value, if there is one.
func guardedBy(b scalar.Bounds, baseline *paidBaseline) scalar.Filled {
	if baseline == nil {
		return scalar.Filled{Bounds: b}
	}
	about := baseline.Baseline
	about.Noise = b.Noise.Baseline
	if about.Kind == scalar.BaselineModel {
		about.Model = baseline.model.pay
	}
	return scalar.Filled{Bounds: b, Baseline: &about}
}

// prepareGuarded binds the plan to data. Whatever may fail, fails here.
func prepareGuarded(g scalar.Filled, of vouched, baseline *paidBaseline, p Public, d *trajectory.Dataset) (draw, error) {
	estimate, d, err := p.estimator(of.behavior, d)
	if err != nil {
		return nil, err
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
		paid, err := estimate.divide([]*value.Sample{s}, src)
		if err != nil {
			return nil, err
		}
		if of.behavior != nil {
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
	if (of.confounding > 1 || of.precision > 0) && s.Rho != nil {
		scalar.Lower(s, max(of.confounding, 1), of.precision)
	}
	of.each(x, z, s)
}
