package evaluate

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/value"
)

// TestRefineWherePersonsAreAlike starts every trajectory at state 0, so that all
// persons visit all states and their means hardly differ. A first clip that
// followed their spread alone would cut the difference between states, and leave
// an error of .005 that no number of persons removes.
func TestRefineWherePersonsAreAlike(t *testing.T) {
	tabular := must(feature.NewTabular(chain.States, chain.Column))
	data := must(chain.Simulate(chain.Options{Episodes: 10_000, Seed: 5, Start: chain.At(0)}))
	p := Public{
		Persons: 10_000, Gamma: 0.99, Horizon: 100_000,
		Reward: Range{Min: 0, Max: 1}, Return: &Range{Min: 0, Max: 1},
		Features: tabular, Target: policy.Logged{},
		Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
	}
	r := perform(t, DPRefine{}, p, data, noise.NewSeeded(3))
	if got := value.RMSE(r.Values, chain.Values(0.5, 0.99)); got > 0.0015 {
		t.Errorf("RMSE %.5f at 10000 persons and epsilon 1; want at most .0015", got)
	}
}
