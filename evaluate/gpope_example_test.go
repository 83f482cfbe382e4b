package evaluate_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

func ExampleGPOPE() {
	states, _ := feature.NewTabular(chain.States, chain.Column)
	public := evaluate.Public{
		Persons: 10000, Gamma: 0.99, Horizon: 1000,
		Reward: evaluate.Range{Min: 0, Max: 1}, Return: &evaluate.Range{Min: 0, Max: 1},
		Features: states, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
	}
	plan, err := evaluate.GPOPE{}.Plan(public)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("epsilon %.3f, %v steps of %.0f persons\n", plan.Epsilon.Upper, plan.Facts["iterations"], plan.Facts["expected_batch"])

	data, _ := chain.Simulate(chain.Options{Episodes: 10000, Seed: 1})
	ready, err := plan.Check(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	src := noise.NewSeeded(1) // for this example; people need noise.NewSource
	release, err := ready.Run(context.Background(), receipt.None(), src)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The true value of the last state is 0.990.
	fmt.Printf("value of the last state: %.1f\n", release.Values[chain.States-1])
	// Output:
	// epsilon 1.000, 3000 steps of 202 persons
	// value of the last state: 1.0
}
