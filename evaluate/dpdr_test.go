package evaluate_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/policy"
)

// chainOffPolicy are the public facts of the chain, for the policy that advances
// with probability .6 where the logged one does with .5.
func chainOffPolicy(t testing.TB, persons int64, epsilon float64) evaluate.Public {
	t.Helper()
	p := chainPublic(t, persons, dp.ReplaceOne)
	var err error
	if p.Target, err = policy.NewTable(chain.Policy(0.6), chain.Actions, chain.Column); err != nil {
		t.Fatal(err)
	}
	p.Privacy.Budget = dp.Budget{Epsilon: epsilon, Delta: 1e-6}
	return p
}

// A doubly robust estimate off-policy, with a value that somebody guessed beforehand:
// right or wrong, the interval holds.
func ExampleDPDR() {
	target, _ := policy.NewTable(chain.Policy(0.6), chain.Actions, chain.Column)
	public := evaluate.Public{
		Persons: 5000, Gamma: 0.99, Horizon: 10000,
		Reward: evaluate.Range{Min: 0, Max: 1}, Return: &evaluate.Range{Min: 0, Max: 1},
		Target:  target,
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
	}
	data, _ := chain.Simulate(chain.Options{Episodes: 5000, Seed: 1})
	guess := 0.7
	plan, err := evaluate.DPDR{Constant: &guess}.Plan(public)
	if err != nil {
		fmt.Println(err)
		return
	}
	ready, err := plan.Check(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	release, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	e := release.Answers[0].Estimate
	fmt.Printf("advance with probability 0.6: %.2f in [%.2f, %.2f], truly %.2f\n", e.Value, e.Interval[0], e.Interval[1], chainWorth(0.6))
	// Output: advance with probability 0.6: 0.74 in [0.68, 0.77], truly 0.73
}
