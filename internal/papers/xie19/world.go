package xie19

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
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
	plans sync.Map // of func() (*evaluate.Plan, error)
}

// public are the public facts with m persons; the zero budget asks for a
// non-private reference.
func (v *view) public(m int, b dp.Budget, on feature.Map) evaluate.Public {
	returns := v.returns
	p := evaluate.Public{
		Persons: int64(m), Gamma: v.gamma, Horizon: int64(v.steps),
		Reward: v.reward, Return: &returns, Features: on, Target: v.target,
	}
	if b != (dp.Budget{}) {
		p.Privacy = &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: b, LargeDelta: true}
	}
	return p
}

// plan plans once for all trials: calibrating noise takes longer than many a
// trial.
func (v *view) plan(e evaluate.Estimator, m int, b dp.Budget, on feature.Map) (*evaluate.Plan, error) {
	key := fmt.Sprintf("%T%+v %d %v %T", e, e, m, b, on)
	once, _ := v.plans.LoadOrStore(key, sync.OnceValues(func() (*evaluate.Plan, error) {
		return e.Plan(v.public(m, b, on))
	}))
	return once.(func() (*evaluate.Plan, error))()
}

// weights runs an estimator and returns theta.
func (v *view) weights(ctx context.Context, e evaluate.Estimator, b dp.Budget, on feature.Map, d *trajectory.Dataset, seed uint64) ([]float64, error) {
	plan, err := v.plan(e, d.Persons(), b, on)
	if err != nil {
		return nil, err
	}
	r, err := onchain.Draw(ctx, plan, d, seed)
	if err != nil {
		return nil, err
	}
	return r.Theta, nil
}

// curve is an estimator as a curve; the zero budget is for references.
type curve struct {
	series    string
	estimator evaluate.Estimator
	budget    dp.Budget
	// byCell runs it on the partition in place of the features.
	byCell bool
}

// run draws the curves at x of the panels mspbe and err.
func (v *view) run(ctx context.Context, mspbe, err string, curves []curve, d *trajectory.Dataset, x float64, seed uint64) ([]figure.Sample, error) {
	y, fault := v.yardstick(ctx)
	if fault != nil {
		return nil, fault
	}
	var byCell *trajectory.Dataset
	out := y.constants(mspbe, err, x)
	for _, c := range curves {
		var theta []float64
		if c.byCell {
			if byCell == nil {
				byCell = v.cells.number(d)
			}
			theta, fault = v.weights(ctx, c.estimator, c.budget, v.cells.features, byCell, seed)
		} else {
			theta, fault = v.weights(ctx, c.estimator, c.budget, v.features, d, seed)
		}
		if fault != nil {
			return nil, fmt.Errorf("%s: %s: %w", v.name, c.series, fault)
		}
		score, fault := y.score(theta, c.byCell)
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
	plan, err := v.plan(g, m, b, v.features)
	if err != nil {
		return math.NaN(), err
	}
	return plan.Epsilon.Upper, nil
}
