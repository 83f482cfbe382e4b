package learn_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
)

func ExampleSarsa() {
	env, err := mountaincar.New(mountaincar.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	q, _, err := learn.Sarsa(context.Background(), learn.Options{
		Env: env,
		Features: feature.Spec{Kind: "fourier", Order: 3, Names: mountaincar.Columns(),
			Low: []float64{-1.2, -0.07}, High: []float64{0.6, 0.07}},
		Alpha: 0.002, Gamma: 1, Lambda: 0.9, Episodes: 300, MaxSteps: 2000, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	greedy, err := q.Greedy(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := sim.Rollout{
		New:    func() (sim.Env, error) { return mountaincar.New(mountaincar.Options{}) },
		Policy: greedy, Episodes: 100, Seed: 2,
	}.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("every episode reaches the goal:", d.HasFinal == nil)
	// Output: every episode reaches the goal: true
}
