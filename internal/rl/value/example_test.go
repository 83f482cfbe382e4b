package value_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// What would the chain be worth to a policy that advances with probability 0.6,
// seen from people who advanced with probability 0.5?
func Example() {
	data, err := chain.Simulate(chain.Options{Episodes: 20_000, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	tabular, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		fmt.Println(err)
		return
	}
	target, err := policy.NewTable(chain.Policy(0.6), chain.Actions, chain.Column)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := value.NewSample(data, value.Options{Gamma: 0.99, Features: tabular, Policy: target})
	if err != nil {
		fmt.Println(err)
		return
	}
	theta, err := value.LSTD{}.Solve(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("off by less than 0.02: %t\n", value.RMSE(theta, chain.Values(0.6, 0.99)) < 0.02)
	// Output: off by less than 0.02: true
}
