package xie19

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim"
)

// The paper's mountain car: a policy from Q-learning with the Fourier basis of
// order 5, and its data. What it does not give: how soft the policy is (as it
// stands, importance ratios of a uniform target would have no bound), the
// discount, the features of the value function, and where episodes are cut off.
const (
	carSoftness   = 0.3
	carGamma      = 0.99
	carQOrder     = 5
	carOrder      = 2
	carHorizon    = 500
	carPatience   = 1000 // 0.99^1000 of -100 is below 0.005
	carRollouts   = 400
	carCellsAside = 6
	carReference  = 100
)

// carFourier is the Fourier basis over position and velocity.
func carFourier(order int) feature.Spec {
	return feature.Spec{
		Kind: "fourier", Order: order, Names: mountaincar.Columns(),
		Low:  []float64{mountaincar.MinPosition, -mountaincar.MaxSpeed},
		High: []float64{mountaincar.MaxPosition, mountaincar.MaxSpeed},
	}
}

func newCar() (sim.Env, error) { return mountaincar.New(mountaincar.Options{}) }

// carAt starts episodes at a given position and velocity.
type carAt struct {
	*mountaincar.Env
	state [2]float64
}

func (e carAt) Reset(obs []float64, rng *rand.Rand) {
	e.Env.Reset(obs, rng)
	e.State = e.state
	copy(obs, e.state[:])
}

// car is learned once; learning takes some ten milliseconds.
var car = sync.OnceValues(func() (*world, error) {
	env, err := newCar()
	if err != nil {
		return nil, err
	}
	q, _, err := learn.QLearning(context.Background(), learn.Options{
		Env: env, Features: carFourier(carQOrder),
		Alpha: 0.001, Gamma: carGamma, Lambda: 0.9, Epsilon: 0.05, Episodes: 200, MaxSteps: 2000, Seed: 1,
	})
	if err != nil {
		return nil, err
	}
	behaviour, err := q.Greedy(carSoftness)
	if err != nil {
		return nil, err
	}
	spec := carFourier(carOrder)
	features, err := spec.Map()
	if err != nil {
		return nil, err
	}
	grid, err := newCells(spec.Low, spec.High, carCellsAside)
	if err != nil {
		return nil, err
	}
	return &world{
		name: "mountain car", gamma: carGamma, steps: carHorizon,
		reward: evaluate.Range{Min: -1, Max: 0}, returns: evaluate.Range{Min: -1 / (1 - carGamma), Max: 0},
		features: features, behaviour: behaviour, cells: grid, reference: carReference, trial: new(latest[simulated]),
		episode: newCar,
		from: func(obs []float64) (sim.Env, error) {
			env, err := mountaincar.New(mountaincar.Options{})
			return carAt{env, [2]float64{obs[0], obs[1]}}, err
		},
	}, nil
})

// carOn evaluates the policy that made the data.
var carOn = sync.OnceValues(func() (*view, error) {
	w, err := car()
	if err != nil {
		return nil, err
	}
	return &view{world: w, name: "on-policy", target: policy.Logged{}, policy: w.behaviour, patience: carPatience, rollouts: carRollouts}, nil
})

// carOff evaluates the uniform policy on the same data.
var carOff = sync.OnceValues(func() (*view, error) {
	w, err := car()
	if err != nil {
		return nil, err
	}
	uniform, err := policy.NewUniform(mountaincar.Actions)
	if err != nil {
		return nil, err
	}
	return &view{world: w, name: "off-policy", target: uniform, policy: uniform, patience: carPatience, rollouts: carRollouts}, nil
})
