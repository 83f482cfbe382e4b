package untuned_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/papers/untuned"
)

func Example() {
	c := untuned.Comparison{Paper: "xie19", Budget: dp.Budget{Epsilon: 0.1, Delta: 1e-5}, Problems: untuned.Problems()}
	item := c.Item()
	fmt.Println(item.Name, len(item.Panels), len(item.Jobs(false)))
	// Output: comparison 4 20
}
