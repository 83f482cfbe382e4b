package evaluate

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// vouched says what a person adds off-policy: the reward and the loss that their weight
// vouches for, in shares of a range.
type vouched struct {
	each           func(x, z []float64, s *value.Sample)
	within         facts.Range   // what the shares 0 and 1 stand for
	selfNormalised bool          // the value is the ratio of sums
	stepwise       bool          // rewards are weighted decision by decision
	needsEnds      bool          // it matters how episodes end
	confounding    float64       // by how much hidden circumstances may move odds; 0 for none
	precision      float64       // by how much recorded probabilities may be off; 0 for exact ones
	behavior       propensities  // estimates the probabilities of logged actions; nil where they are known
	weights        weightBound   // what the design says of weights
	own            []weightBound // the same of every policy alone; nil where it is the same of all
	// steps or whole is what the shares are of.
	steps *scalar.Stepwise
	whole *scalar.Whole
}

// wholeReturns weighs returns by the weights of whole trajectories.
func wholeReturns(p Public) vouched {
	whole := scalar.WholeOf(p.perEpisode(), p.Discounts)
	return vouched{whole: &whole, within: whole.Returns, weights: p.weightsOf(false), own: p.ownWeights(false), precision: p.BehaviorPrecision, each: whole.Contributions, needsEnds: p.decisions() > 1}
}

// stepByStep weighs every reward by the ratios up to its decision.
func stepByStep(p Public) vouched {
	steps, several := scalar.StepwiseOf(p.perEpisode(), p.Discounts), p.decisions() > 1
	return vouched{steps: &steps, within: steps.Range(), weights: p.weightsOf(true), own: p.ownWeights(true), precision: p.BehaviorPrecision, each: steps.Contributions, stepwise: several, needsEnds: several}
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

// boundsOf are the limits of a value, with no cap on weights and no noise yet.
func (p Public) boundsOf(of vouched) scalar.Bounds {
	return scalar.Bounds{Public: p.numbers(), Range: of.within, Answers: max(p.answers, p.share.intervals), SelfNormalised: of.selfNormalised, Confounded: of.confounding > 1, Usable: p.onPolicy(), Estimated: p.estimates(), OneSided: p.judges, Unread: p.share.unread}
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

// guarded prepares the plan. Whatever may fail, fails before noise is drawn.
func guarded(g scalar.Filled, of vouched, baseline *paidBaseline, p Public) preparation {
	m := of.byPerson(p, 1)
	m.public = p.featureless()
	if baseline != nil {
		m.check = func(d *trajectory.Dataset) error {
			if err := of.check(d, p); err != nil {
				return err
			}
			return baseline.check(p, d)
		}
		m.coordinates = max(m.coordinates, baseline.coordinates(p))
		m.rows = m.rows || baseline.Guess == nil
		m.moves = m.moves || baseline.ByAction() || baseline.model != nil
		if baseline.ByState() || baseline.model != nil {
			m.public = p
		}
	}
	m.run = of.run(p, func(rows *value.Samples, xz []scalar.Numbers, src *noise.Source) (*Release, error) {
		return paidFor(g.Run(rows, xz[0], xz[1], src))
	})
	return m.preparation()
}

// run makes a release of what persons add, after the probabilities of logged actions are estimated, if
// they are.
func (of vouched) run(p Public, release func(rows *value.Samples, xz []scalar.Numbers, src *noise.Source) (*Release, error)) func([]scalar.Numbers, *value.Samples) (draw, error) {
	return func(xz []scalar.Numbers, rows *value.Samples) (draw, error) {
		return func(_ context.Context, src *noise.Source) (*Release, error) {
			rows, xz, paid, err := p.estimated(of, rows, xz, src)
			if err != nil {
				return nil, err
			}
			r, err := release(rows, xz, src)
			if err != nil {
				return nil, err
			}
			return r, r.tell(of.behavior, paid)
		}, nil
	}
}

// byPerson keeps what persons add under so many policies, and rows where that is to be
// estimated.
func (of vouched) byPerson(p Public, policies int) byPerson {
	m := byPerson{public: p, numbers: 2 * policies, each: of.weigh, coordinates: 6}
	if of.behavior != nil {
		m.estimates, m.rows, m.moves, m.numbers, m.each = true, true, true, 0, nil
		m.coordinates = max(m.coordinates, of.behavior.size())
		m.check = func(d *trajectory.Dataset) error { return of.check(d, p) }
	}
	return m
}

// check holds data against what an estimate of probabilities needs.
func (of vouched) check(d *trajectory.Dataset, p Public) error {
	switch {
	case of.behavior == nil:
		return nil
	case d.Action == nil:
		return fmt.Errorf("%w: action: to estimate the probabilities of logged actions these must be there; map the column that holds them", policy.ErrMissing)
	}
	return of.behavior.check(d, p)
}

// weigh writes what persons add under each policy, and lowers ratios.
func (of vouched) weigh(xz [][]float64, part []*value.Sample) error {
	for i, s := range part {
		of.lower(s)
		of.each(xz[2*i], xz[2*i+1], s)
	}
	return nil
}

// lower lowers ratios to the least that they can be.
func (of vouched) lower(s *value.Sample) {
	if (of.confounding > 1 || of.precision > 0) && s.Rho != nil {
		scalar.Lower(s, max(of.confounding, 1), of.precision)
	}
}
