package evaluate

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// chainError is the RMSE of GPOPE's values on the 40-state chain, the mean over
// seeds of data and noise, with delta 1e-5 or a tenth below 1/persons.
func chainError(t *testing.T, m GPOPE, persons int, epsilon float64, seeds int) float64 {
	t.Helper()
	truth, sum := chain.Values(0.5, 0.99), 0.0
	for seed := range uint64(seeds) {
		d, err := chain.Simulate(chain.Options{Episodes: persons, Seed: 100 + seed})
		if err != nil {
			t.Fatal(err)
		}
		p := Public{
			Persons: int64(persons), Gamma: 0.99, Reward: Range{0, 1}, Return: &Range{0, 1}, Horizon: 1000,
			Features: must(feature.NewTabular(chain.States, chain.Column)), Target: policy.Logged{},
			Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: epsilon, Delta: min(1e-5, 0.9/float64(persons))}},
		}
		sum += value.RMSE(theta(t, m, p, d, seed), truth)
	}
	return sum / float64(seeds)
}

// bestConstant is the RMSE of the constant nearest to the chain's values, which
// a release must beat to say anything.
func bestConstant() float64 {
	truth := chain.Values(0.5, 0.99)
	mean, square := 0.0, 0.0
	for _, v := range truth {
		mean += v / chain.States
	}
	for _, v := range truth {
		square += (v - mean) * (v - mean) / chain.States
	}
	return math.Sqrt(square)
}

// One run at ten thousand persons and epsilon 1 with the public defaults; 0.027
// is the mean over seeds.
func TestGPOPEBeatsTheBestConstantOnTheChain(t *testing.T) {
	got := chainError(t, GPOPE{}, 10_000, 1, 1)
	if limit := bestConstant() / 2; !(got < limit) {
		t.Errorf("RMSE %.4f; want below half of the best constant's, %.4f", got, limit)
	}
}
