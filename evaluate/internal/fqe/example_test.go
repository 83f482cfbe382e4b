package fqe_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
)

// A table of six states and two actions, and how much its noise is expected to blur what
// follows a decision.
func Example() {
	t := fqe.Table{
		Public: facts.Public{Persons: 2000, Adjacency: dp.ReplaceOne, Gamma: 1, Horizon: 20,
			Reward: facts.Range{Min: 0, Max: 1}, Returns: facts.Range{Min: 0, Max: 20}},
		Form: fqe.ByAction, Cells: 6, Actions: 2, Decisions: 20, MaxWeight: 1, Multiplier: 10,
	}
	blur, err := t.Blur()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d numbers, a person's norm up to %.1f, noise %.2f of the spread\n", t.Coordinates(), t.Most(), blur)
	// Output: 132 numbers, a person's norm up to 8.8, noise 0.05 of the spread
}
