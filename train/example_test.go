package train_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/train"
)

func ExampleTrain() {
	result, err := train.Train(context.Background(), train.Config{
		Terms: train.Terms{
			Randomizer:  train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1},
			Submissions: 500,
			Optimizer:   train.Optimizer{Kind: "momentum", Step: 0.2, Decay: 1000},
			Buffer:      10, Growth: 0.01, Staleness: -1,
		},
		Local: train.Local{
			Method:         train.PolicyGradient,
			Network:        learn.Network{Inputs: 4, Actions: 2},
			Steps:          1,
			Episodes:       1,
			PolicyGradient: learn.PolicyGradient{Gamma: 0.99},
		},
		Environments: []train.Environment{{
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

// An agent and an aggregator in two places: what travels is the task, the weights
// and the report.
func ExampleAggregator() {
	terms, local := linear(train.SignPRS)
	aggregator, err := train.NewAggregator(terms, make([]float64, 8), train.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	task := aggregator.Issue(0)
	theta := make([]float64, 8)
	aggregator.Theta(theta)

	device, err := train.NewDevice(local, terms.Randomizer)
	if err != nil {
		fmt.Println(err)
		return
	}
	agent, err := newAgent(device, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, _, err := agent.Answer(context.Background(), &task, theta)
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict, err := aggregator.Submit(report)
	fmt.Println(len(report), "bytes:", verdict, err)
	verdict, err = aggregator.Submit(report)
	fmt.Println("again:", verdict, err)
	// Output:
	// 43 bytes: accepted <nil>
	// again: duplicate <nil>
}
