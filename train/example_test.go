package train_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/train"
)

// An agent and an aggregator in two places: what travels is the task, the weights
// and the report. What the agent reports it may have learned by any means.
func Example() {
	terms := train.Terms{
		Dim:         3,
		Randomizer:  train.Randomizer{Mechanism: train.SignPRS, Epsilon: 2},
		Submissions: 1000,
		Optimizer:   train.Optimizer{Kind: "momentum", Step: 0.2, Decay: 1000},
		Buffer:      10, Staleness: -1,
	}
	aggregator, err := train.NewAggregator(terms, make([]float64, 3), train.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	task := aggregator.Issue(0)
	theta := make([]float64, 3)
	aggregator.Theta(theta)

	agent, err := newAgent(terms)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := agent.Accept(&task, theta); err != nil {
		fmt.Println(err)
		return
	}
	gradient := []float64{0.3, -1.2, 0.05} // learned from theta
	report, err := agent.Report(context.Background(), &task, gradient)
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

// newAgent makes an agent that agrees to the terms and may spend epsilon 8 in all.
func newAgent(terms train.Terms) (*train.Agent, error) {
	codec, err := train.NewCodec(terms.Randomizer, terms.Dim)
	if err != nil {
		return nil, err
	}
	wallet, err := train.NewMemoryWallet(dp.Budget{Epsilon: 8})
	if err != nil {
		return nil, err
	}
	source, err := noise.NewSource()
	return &train.Agent{Codec: codec, Wallet: wallet, Noise: source}, err
}
