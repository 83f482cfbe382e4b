package chain_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
)

func ExampleSimulate() {
	d, err := chain.Simulate(chain.Options{Episodes: 1000, Seed: 1, Advance: 1, Start: chain.At(38)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Persons(), "persons,", d.Rows(), "decisions, first rewards", d.Reward[:4])
	fmt.Printf("V(39) = %.6f\n", chain.Values(0.5, 0.99)[39])
	// Output:
	// 1000 persons, 2000 decisions, first rewards [0 1 0 1]
	// V(39) = 0.990099
}
