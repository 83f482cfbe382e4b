package device_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// What an agent learns from one episode of cart pole: a gradient, which
// train.Agent.Report randomises.
func Example() {
	d, err := device.New(device.Local{
		Method:         device.PolicyGradient,
		Network:        learn.Network{Inputs: 4, Actions: 2},
		Steps:          1,
		Episodes:       1,
		PolicyGradient: learn.PolicyGradient{Gamma: 0.99},
	}, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	env, err := cartpole.New(cartpole.Options{MaxSteps: 200})
	if err != nil {
		fmt.Println(err)
		return
	}
	player, err := d.Player(env)
	if err != nil {
		fmt.Println(err)
		return
	}
	theta := make([]float64, d.Dim())
	vector, rollout := d.Learn(&train.Task{}, theta, player, rand.New(rand.NewPCG(1, 1)))
	fmt.Println(len(vector), "weights; failed:", rollout.Failed)
	// Output: 8 weights; failed: <nil>
}
