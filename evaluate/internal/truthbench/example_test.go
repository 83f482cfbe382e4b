package truthbench_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
)

func Example() {
	p := truthbench.Problems()[1]
	d := p.Draw(1000, 1)
	fmt.Printf("%s: worth %.2f, logged policy %.2f; %d persons\n", p.Name, p.J, p.Logged, d.Persons())
	// Output: bandit, arm at .02: worth 0.60, logged policy 0.40; 1000 persons
}
