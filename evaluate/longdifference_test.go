package evaluate_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// nearPair asks step by step about two tables that differ by a ten-thousandth, logged by a coin.
func nearPair(t testing.TB, horizon int64, gamma float64) evaluate.ExpectedAnswer {
	coin := must(policy.NewUniform(2))
	a := must(policy.NewTable([]float64{0.51, 0.49}, 2, "obs_s"))
	b := must(policy.NewTable([]float64{0.5099, 0.4901}, 2, "obs_s"))
	plan, err := evaluate.DPPDIS{}.Plan(evaluate.Public{
		Persons: 100000, Gamma: gamma, Horizon: horizon, Reward: evaluate.Range{Max: 1}, Complete: true,
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 5, Delta: 1e-6}},
		Design:  evaluate.NewDesign(coin, true, a, b),
		Targets: &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "a", Policy: a}, {Name: "b", Policy: b}}, Contrasts: [][2]string{{"a", "b"}}, Drawn: coin},
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.Facts["answers"].([]evaluate.ExpectedAnswer)[0]
}

// TestNoWeightOfALongDifferenceIsCut takes a person whose actions are all the likelier one, for whom
// the sum over decisions is in closed form: without a guard nobody may lie above the cap.
func TestNoWeightOfALongDifferenceIsCut(t *testing.T) {
	for _, gamma := range []float64{1, 0.9} {
		for _, horizon := range []int64{1, 2, 8, 20, 40} {
			weight, all := 0.0, 0.0
			for t := range int(horizon) {
				for k := range t + 1 {
					weight += math.Pow(gamma, float64(t)) * math.Pow(2*0.51, float64(k)) * math.Pow(2*0.5099, float64(t-k))
					all += math.Pow(gamma, float64(t))
				}
			}
			a := nearPair(t, horizon, gamma)
			if weight /= all; !(a.Distance > 0) || a.MaxWeight < weight || a.MaxWeight > 1.02*weight {
				t.Errorf("gamma %v, %d decisions: the cap is %v at distance %v, and a weight %v", gamma, horizon, a.MaxWeight, a.Distance, weight)
			}
		}
	}
}

// TestAnEndlessHorizonIsPlanned: the time of a plan does not grow with the horizon.
func TestAnEndlessHorizonIsPlanned(t *testing.T) {
	nearPair(t, 1e15, 0.99)
}
