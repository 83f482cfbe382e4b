package account

import "github.com/discreet-rl/discreet/internal/xmath"

// Cost is what an event, or all events so far, spend under a [Rule]: either of the rule's own
// sum, or of the part in which epsilons and deltas add up (all of the budget under
// [Basic], else the reserve). Costs are rounded up.
type Cost struct {
	// Sum is mu^2 under the Gaussian rule, a divergence under the Renyi rule.
	Sum float64 `json:"sum"`
	// Epsilon and Delta add up as under basic composition.
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Plus adds two costs, rounding up.
func (c Cost) Plus(d Cost) Cost {
	return Cost{
		Sum:     xmath.AddUp(c.Sum, d.Sum),
		Epsilon: xmath.AddUp(c.Epsilon, d.Epsilon),
		Delta:   xmath.AddUp(c.Delta, d.Delta),
	}
}

// Within reports that no component exceeds that of the limit.
func (c Cost) Within(limit Cost) bool {
	return c.Sum <= limit.Sum && c.Epsilon <= limit.Epsilon && c.Delta <= limit.Delta
}
