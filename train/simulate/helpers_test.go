package simulate_test

import (
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// poles are the environments of Ono and Takahashi (2020), section 4.
func poles() []simulate.Environment {
	var out []simulate.Environment
	for _, g := range []float64{9.7, 9.8, 9.9} {
		out = append(out, simulate.Environment{
			Name: fmt.Sprintf("cart-pole, gravity %v", g),
			New:  func() (sim.Env, error) { return cartpole.New(cartpole.Options{Gravity: g, MaxSteps: 200}) },
		})
	}
	return out
}

// seeded gives every slot noise of its own that follows from a seed.
func seeded(seed uint64) func(uint64) *noise.Source {
	return func(slot uint64) *noise.Source { return noise.NewSeeded(seed*0x9e3779b97f4a7c15 ^ slot) }
}

// paper is PGC-A3C with the Laplace mechanism (Ono and Takahashi 2020).
func paper(seed uint64, epsilon float64, submissions uint64) simulate.Config {
	return simulate.Config{
		Terms: train.Terms{
			Randomizer:  train.Randomizer{Mechanism: train.Laplace, Epsilon: epsilon, Clip: .01},
			Submissions: submissions,
			Optimizer:   train.Optimizer{Kind: "sgd", Step: .5},
			Buffer:      1, Staleness: -1,
		},
		Local: device.Local{
			Method:      device.ActorCritic,
			Network:     learn.Network{Inputs: 4, Hidden: []int{16}, Actions: 2, Value: true, ReLUValue: true},
			Steps:       1,
			Episodes:    1,
			ActorCritic: learn.ActorCritic{Gamma: .99, Entropy: .01, ValueWeight: .5, Detach: true, DetachReturn: true},
			Reward:      learn.FailureReward,
			Greedy:      true, Uniform: .5, UniformFor: 1800,
		},
		Init:         learn.Init{Normal: .02},
		Environments: poles(),
		Seed:         seed,
		Noise:        seeded(seed),
	}
}

// ours is the recipe of a fleet: directions, policy gradient, normalised momentum.
func ours(seed uint64, m train.Mechanism, epsilon float64, submissions uint64) simulate.Config {
	return simulate.Config{
		Terms: train.Terms{
			Randomizer:  train.Randomizer{Mechanism: m, Epsilon: epsilon},
			Submissions: submissions,
			Optimizer:   train.Optimizer{Kind: "momentum", Step: .2, Decay: 1000},
			Buffer:      10, Growth: .01, Staleness: -1,
		},
		Local: device.Local{
			Method:         device.PolicyGradient,
			Network:        learn.Network{Inputs: 4, Actions: 2},
			Steps:          1,
			Episodes:       1,
			PolicyGradient: learn.PolicyGradient{Gamma: .99},
		},
		Environments: poles(),
		Seed:         seed,
		Noise:        seeded(seed),
	}
}

func first(scores []float64) int { return simulate.FirstSuccess(scores, 10, 195) }

func must[T any](t testing.TB, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
