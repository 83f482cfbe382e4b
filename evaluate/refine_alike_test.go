package evaluate

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestRefineWherePersonsAreAlike starts every trajectory at state 0, so that all
// persons visit all states and their means hardly differ. A first clip that
// followed their spread alone would cut the difference between states, and leave
// an error of .005 that no number of persons removes.
func TestRefineWherePersonsAreAlike(t *testing.T) {
	tabular := must(feature.NewTabular(chain.States, chain.Column))
	for persons, limit := range map[int]float64{10_000: 0.0015, 50_000: 0.0006} {
		data := must(chain.Simulate(chain.Options{Episodes: persons, Seed: 5, Start: chain.At(0)}))
		p := Public{
			Persons: int64(persons), Gamma: 0.99, Horizon: 100_000,
			Reward: Range{Min: 0, Max: 1}, Return: &Range{Min: 0, Max: 1},
			Features: tabular, Target: policy.Logged{},
			Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
		}
		rmse := func(m Estimator) float64 {
			return value.RMSE(perform(t, m, p, data, noise.NewSeeded(3)).Values, chain.Values(0.5, 0.99))
		}
		got := rmse(DPRefine{})
		t.Logf("%d persons: RMSE %.5f; DP-LSW with exact constants %.5f", persons, got, rmse(DPLSW{Constants: "exact"}))
		if got > limit {
			t.Errorf("%d persons: RMSE %.5f at epsilon 1; want at most %v", persons, got, limit)
		}
	}
}
