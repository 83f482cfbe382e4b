package account_test

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// TestAdjacencyDoublesTheSensitivityOfASum holds each accountant's epsilon for a
// clipped sum under replace_one against that of half the noise under
// add_remove_one: they are the same mechanism.
func TestAdjacencyDoublesTheSensitivityOfASum(t *testing.T) {
	pairs := map[string][2]dp.Event{
		"gaussian": {dp.Gaussian{NoiseMultiplier: 3}, dp.Gaussian{NoiseMultiplier: 1.5}},
		"laplace":  {dp.Laplace{NoiseMultiplier: 3}, dp.Laplace{NoiseMultiplier: 1.5}},
		"composed": {
			dp.SelfComposed{Count: 10, Event: dp.Gaussian{NoiseMultiplier: 8}},
			dp.SelfComposed{Count: 10, Event: dp.Gaussian{NoiseMultiplier: 4}},
		},
		"discrete_gaussian": {dp.DiscreteGaussian{Sigma: 8, Norm: 1, Dimension: 1}, dp.DiscreteGaussian{Sigma: 8, Norm: 2, Dimension: 1}},
		"discrete_laplace":  {dp.DiscreteLaplace{Scale: 8, Norm: 1}, dp.DiscreteLaplace{Scale: 8, Norm: 2}},
	}
	for name, pair := range pairs {
		for _, fresh := range []func(dp.Adjacency) account.Accountant{
			func(a dp.Adjacency) account.Accountant { return account.New(a) },
			func(a dp.Adjacency) account.Accountant { return account.NewPLD(a) },
			func(a dp.Adjacency) account.Accountant { return account.NewRDP(a) },
		} {
			replace, add := fresh(dp.ReplaceOne), fresh(dp.AddRemoveOne)
			if err := replace.Compose(t.Context(), pair[0], 1); err != nil {
				t.Fatal(err)
			}
			if err := add.Compose(t.Context(), pair[1], 1); err != nil {
				t.Fatal(err)
			}
			a, err := replace.Epsilon(t.Context(), 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			b, err := add.Epsilon(t.Context(), 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			if a.Lower > b.Upper || b.Lower > a.Upper || a.Upper > b.Upper*1.001 || b.Upper > a.Upper*1.001 {
				t.Errorf("%s, %s: replace_one %v, add_remove_one with half the noise %v; want the same", name, replace, a, b)
			}
		}
	}
}
