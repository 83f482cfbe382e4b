package xie19

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// world is a simulated problem with continuous states, the policy that made its
// data, and the features that value functions are linear in.
type world struct {
	name  string
	gamma float64
	// steps is where an episode is cut off; what follows is bootstrapped.
	steps           int
	reward, returns evaluate.Range
	features        feature.Map
	behaviour       policy.Policy
	// episode makes the problem, from makes it start at an observation.
	episode func() (sim.Env, error)
	from    func(obs []float64) (sim.Env, error)
	// reference is the number of chunks in the sample that MSPBE is measured on.
	reference int
	// cells is a partition of the states for DP-LSW; nil where it is not run.
	cells *cells
	// trial holds the persons of the latest trial, for all views and items.
	trial *latest[simulated]
}

// simulated are the persons of a trial.
type simulated struct {
	raw      *trajectory.Dataset
	featured *trajectory.Dataset // observes the features
	byCell   *trajectory.Dataset // observes the cell; nil without cells
	given    given               // the features of featured
	made     *releases
}

// persons makes m persons of a trial, or more.
func (w *world) persons(ctx context.Context, trial, m int) (simulated, error) {
	return w.trial.get(trial, m, func() (simulated, error) {
		s := simulated{made: new(releases)}
		var err error
		if s.raw, err = w.simulate(ctx, m, seedOf(trial)); err != nil {
			return s, err
		}
		if s.given, err = givenFrom(w.features); err != nil {
			return s, err
		}
		if s.featured, err = s.given.featured(s.raw, w.features); err != nil {
			return s, fmt.Errorf("%s: %w", w.name, err)
		}
		if w.cells != nil {
			s.byCell = w.cells.number(s.raw)
		}
		return s, nil
	})
}

// simulate makes the trajectories of m persons on one goroutine: jobs run beside
// each other.
func (w *world) simulate(ctx context.Context, m int, seed uint64) (*trajectory.Dataset, error) {
	d, err := sim.Rollout{New: w.episode, Policy: w.behaviour, Episodes: m, Seed: seed, MaxSteps: w.steps, Workers: 1}.Run(ctx)
	if err != nil {
		return nil, err
	}
	// Evaluation needs the probability of the logged action alone.
	d.ActionProbs, d.Actions = nil, 0
	return d, nil
}

// view is a policy to evaluate in a world.
type view struct {
	*world
	name string
	// target is what estimators are told, policy that it stands for: they differ
	// on-policy, where estimators need no probabilities.
	target, policy policy.Policy
	// patience is the number of steps after which discounted rewards no longer
	// count, rollouts the number of episodes for the truth of one state.
	patience, rollouts int
	// relative tells that MSPBE is divided by the square of the mean absolute
	// reward under the policy.
	relative bool

	once  sync.Once
	stick *yardstick
	err   error
	plans plans
}

// people are the persons of a trial as a view sees them: every number of persons
// takes the first so many.
type people struct {
	*view
	simulated
	data   *trajectory.Dataset // featured, with the target's probabilities
	target policy.Policy       // reads them
	walk   *walker
}

// people makes the m persons of a trial, for one goroutine.
func (v *view) people(ctx context.Context, trial, m int) (*people, error) {
	s, err := v.persons(ctx, trial, m)
	if err != nil {
		return nil, err
	}
	p := &people{view: v, simulated: s, data: first(s.featured, m), target: v.target}
	if !policy.OnPolicy(v.target) {
		data := *p.data
		if p.target, data.TargetProb, err = targetColumn(first(s.raw, m), v.target); err != nil {
			return nil, fmt.Errorf("%s: %w", v.name, err)
		}
		p.data = &data
	}
	sample, err := value.NewSample(p.data, value.Options{Gamma: v.gamma, Features: s.given, Policy: p.target})
	if err != nil {
		return nil, err
	}
	p.walk = newWalker(sample)
	return p, nil
}

// public are the public facts with m persons; the zero budget asks for a
// non-private reference.
func (v *view) public(m int, b dp.Budget, on feature.Map, target policy.Policy) evaluate.Public {
	returns := v.returns
	var privacy *evaluate.Privacy
	if b != (dp.Budget{}) {
		privacy = &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: b, LargeDelta: true}
	}
	return evaluate.Public{
		Persons: int64(m), Gamma: v.gamma, Horizon: int64(v.steps),
		Reward: v.reward, Return: &returns, Features: on, Target: target, Privacy: privacy,
	}
}

// plans holds plans for all trials: calibrating noise takes longer than many a
// trial.
type plans struct{ of sync.Map } // of func() (*evaluate.Plan, error)

func (s *plans) get(e evaluate.Estimator, p evaluate.Public) (*evaluate.Plan, error) {
	if g, ok := algorithm1(e); ok {
		// Neither clip nor steps enter the noise multiplier or epsilon.
		e = evaluate.GPOPE{Batch: 1, Accountant: g.Accountant}
	}
	key := fmt.Sprintf("%T%+v %d %T", e, e, p.Persons, p.Features)
	if p.Privacy != nil {
		key += fmt.Sprint(p.Privacy.Budget)
	}
	once, _ := s.of.LoadOrStore(key, sync.OnceValues(func() (*evaluate.Plan, error) { return e.Plan(p) }))
	return once.(func() (*evaluate.Plan, error))()
}

// weights runs curves on the first m persons and returns the theta of each.
func (p *people) weights(ctx context.Context, curves []curve, m int, seed uint64) ([][]float64, error) {
	asks := make([]ask, len(curves))
	for i, c := range curves {
		data, on, target := p.data, feature.Map(p.given), p.target
		if c.byCell {
			data, on = p.byCell, p.cells.features
		}
		plan, err := p.plans.get(c.estimator, p.public(m, c.budget, on, target))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.name, c.series, err)
		}
		asks[i] = ask{name: fmt.Sprint(p.name, c.budget, c.byCell), estimator: c.estimator, plan: plan, data: data}
	}
	return p.made.weights(ctx, p.walk, asks, m, seed)
}

// curve is an estimator as a curve; the zero budget is for references.
type curve struct {
	series    string
	estimator evaluate.Estimator
	budget    dp.Budget
	// byCell runs it on the partition in place of the features.
	byCell bool
}

// run draws the curves of the first m persons at x of the panels mspbe and err.
func (p *people) run(ctx context.Context, mspbe, err string, curves []curve, m int, x float64, seed uint64) ([]figure.Sample, error) {
	y, fault := p.yardstick(ctx)
	if fault != nil {
		return nil, fault
	}
	out := y.constants(mspbe, err, x)
	thetas, fault := p.weights(ctx, curves, m, seed)
	if fault != nil {
		return nil, fault
	}
	for i, c := range curves {
		score, fault := y.score(thetas[i], c.byCell)
		if fault != nil {
			return nil, fault
		}
		out = append(out,
			figure.Sample{Panel: mspbe, Series: c.series, X: x, Y: score.mspbe},
			figure.Sample{Panel: err, Series: c.series, X: x, Y: score.rmse})
	}
	return out, nil
}

// yardstick is made once, by the trial that asks first.
func (v *view) yardstick(ctx context.Context) (*yardstick, error) {
	v.once.Do(func() { v.stick, v.err = v.measure(ctx) })
	return v.stick, v.err
}

// upper is the upper end of the bracket of a plan's true epsilon at the budget's
// delta.
func (v *view) upper(g evaluate.GPOPE, m int, b dp.Budget) (float64, error) {
	plan, err := v.plans.get(g, v.public(m, b, v.features, v.target))
	if err != nil {
		return math.NaN(), err
	}
	return plan.Epsilon.Upper, nil
}
