package evaluate_test

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim/chain"
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
