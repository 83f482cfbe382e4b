package simulate_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

func ExampleRun() {
	result, err := simulate.Run(context.Background(), simulate.Config{
		Terms: train.Terms{
			Randomizer:  train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1},
			Submissions: 500,
			Optimizer:   train.Optimizer{Kind: "momentum", Step: 0.2, Decay: 1000},
			Buffer:      10, Growth: 0.01, Staleness: -1,
		},
		Local: device.Local{
			Method:         device.PolicyGradient,
			Network:        learn.Network{Inputs: 4, Actions: 2},
			Steps:          1,
			Episodes:       1,
			PolicyGradient: learn.PolicyGradient{Gamma: 0.99},
		},
		Environments: []simulate.Environment{{
			Name: "cart-pole",
			New:  func() (sim.Env, error) { return cartpole.New(cartpole.Options{MaxSteps: 200}) },
		}},
		Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Accepted, "reports; no agent spent more than epsilon", result.Epsilon)
	// Output: 500 reports; no agent spent more than epsilon 1
}
