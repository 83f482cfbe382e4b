package evaluate_test

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
)

// The value function of the chain from ten thousand persons at epsilon 1. Returns of a chain
// scatter little about the value of their state, which Spread tells the plan.
func ExampleDPRefine() {
	data, err := chain.Simulate(chain.Options{Episodes: 10000, Seed: 1})
	if err != nil {
		panic(err)
	}
	features, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		panic(err)
	}
	plan, err := evaluate.DPRefine{Spread: 0.04}.Plan(evaluate.Public{
		Persons: 10000, Gamma: 0.99, Horizon: 250,
		Reward: evaluate.Range{Min: 0, Max: 1}, Return: &evaluate.Range{Min: 0, Max: 1},
		Features: features, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("expected error %.3f; a constant may be off by %.1f\n", plan.Expected.RMSE, plan.Expected.Constant)
	ready, err := plan.Check(context.Background(), data)
	if err != nil {
		panic(err)
	}
	release, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1)) // use noise.NewSource for people
	if err != nil {
		panic(err)
	}
	square := 0.0
	for s, v := range chain.Values(0.5, 0.99) {
		square += (release.Values[s] - v) * (release.Values[s] - v) / chain.States
	}
	fmt.Printf("error %.3f\n", math.Sqrt(square))
	// Output:
	// expected error 0.002; a constant may be off by 0.5
	// error 0.002
}
