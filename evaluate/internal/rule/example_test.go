package rule_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/rule"
)

// Of a table of sums the rule asks about the state until all that is left do the same.
func Example() {
	of := rule.Limits{}.Table(rule.Sums{Gains: []float64{4, 1, 3, 2, -5, 5}}, 2)
	for _, n := range rule.TableNodes("obs_stage", [][]int{of}, 2) {
		if n.Threshold != nil {
			fmt.Println(n.Input, "at most", *n.Threshold)
		} else {
			fmt.Println(n.Probs)
		}
	}
	// Output:
	// obs_stage at most 0.5
	// [1 0]
	// obs_stage at most 1.5
	// [1 0]
	// [0 1]
}
