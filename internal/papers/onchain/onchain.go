package onchain

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Gamma is the discount and Advance the probability of advancing, of both papers.
const (
	Gamma   = 0.99
	Advance = 0.5
)

// horizon is far above any episode: the mean length is at most 80, and a length
// beyond 10000 has probability below 1e-1000.
const horizon = 10_000

// Problem is the chain with so many persons under a budget.
type Problem struct {
	Persons int
	// Start holds the probability of each first state; nil is uniform.
	Start    []float64
	Features feature.Finite
	// Budget is what private estimators get; the zero budget asks for a
	// non-private reference.
	Budget dp.Budget
	// Bound is the public upper bound of a return; 0 stands for 1, the true one.
	Bound float64
}

// Tabular is one feature a state.
func Tabular() feature.Finite { return must(feature.NewTabular(chain.States, chain.Column)) }

// Pairs lets two neighbouring states share a feature.
func Pairs() feature.Finite { return must(feature.NewAggregation(chain.States, 2, chain.Column)) }

// must is for features whose parameters are constants.
func must[F feature.Finite](f F, err error) feature.Finite {
	if err != nil {
		panic(err)
	}
	return f
}

// Truth is the exact value of every state.
func Truth() []float64 { return chain.Values(Advance, Gamma) }

// BestConstant is the constant with the least root mean square error over the
// states, and that error. It takes the truth to find, and no data.
func BestConstant() (constant, rmse float64) {
	truth := Truth()
	for _, v := range truth {
		constant += v / float64(len(truth))
	}
	for _, v := range truth {
		rmse += (v - constant) * (v - constant) / float64(len(truth))
	}
	return constant, math.Sqrt(rmse)
}

// Visits is the probability that a trajectory from start visits each state: it
// passes every state from its first one on.
func Visits(start []float64) []float64 {
	p := make([]float64, chain.States)
	sum := 0.0
	for s := range p {
		if start == nil {
			sum = float64(s+1) / chain.States
		} else {
			sum += start[s]
		}
		p[s] = min(sum, 1)
	}
	return p
}

// Simulate makes the trajectories of all persons, on one goroutine: jobs run
// beside each other.
func (p Problem) Simulate(seed uint64) (*trajectory.Dataset, error) {
	return chain.Simulate(chain.Options{Episodes: p.Persons, Seed: seed, Start: p.Start, Workers: 1})
}

// Public are the public facts. A delta of 1/persons or more is accepted: the
// papers use such.
func (p Problem) Public() evaluate.Public {
	bound := p.Bound
	if bound == 0 {
		bound = 1
	}
	var privacy *evaluate.Privacy
	if p.Budget != (dp.Budget{}) {
		privacy = &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: p.Budget, LargeDelta: true}
	}
	return evaluate.Public{
		Persons: int64(p.Persons), Gamma: Gamma, Horizon: horizon,
		Reward: evaluate.Range{Min: 0, Max: 1}, Return: &evaluate.Range{Min: 0, Max: bound},
		Features: p.Features, Target: policy.Logged{}, Privacy: privacy,
	}
}

// Run plans, checks and runs an estimator with seeded noise.
func (p Problem) Run(ctx context.Context, e evaluate.Estimator, d *trajectory.Dataset, seed uint64) (*evaluate.Release, error) {
	plan, err := e.Plan(p.Public())
	if err != nil {
		return nil, err
	}
	return Draw(ctx, plan, d, seed)
}

// Draw checks data against a plan and runs it with seeded noise.
func Draw(ctx context.Context, plan *evaluate.Plan, d *trajectory.Dataset, seed uint64) (*evaluate.Release, error) {
	ready, err := plan.Check(ctx, d)
	if err != nil {
		return nil, err
	}
	return ready.Run(ctx, receipt.None(), noise.NewSeeded(seed))
}

// Values is Run for the value of every state.
func (p Problem) Values(ctx context.Context, e evaluate.Estimator, d *trajectory.Dataset, seed uint64) ([]float64, error) {
	r, err := p.Run(ctx, e, d, seed)
	if err != nil {
		return nil, err
	}
	if len(r.Values) != chain.States {
		return nil, fmt.Errorf("%s: released %d values; want one a state", r.Method, len(r.Values))
	}
	return r.Values, nil
}
