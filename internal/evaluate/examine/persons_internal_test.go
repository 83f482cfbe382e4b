package examine

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Where few persons have no plan, runs are of eight times as many until one has the event of the whole plan: too many to run is
// only what needs more.
func TestRunsAreOfAsManyPersonsAsAPlanNeeds(t *testing.T) {
	states, err := feature.NewTabular(2, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	two, err := policy.NewUniform(2)
	if err != nil {
		t.Fatal(err)
	}
	for epsilon, want := range map[float64]int64{50: 48, 1: 384, 0.1: 3072, 0.01: 0} {
		j := Job{Estimator: evaluate.DPLearn{}, Public: evaluate.Public{
			Persons: 100_000, Gamma: 1, Horizon: 3, Episodes: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Features: states, Target: two,
			Behavior: &evaluate.EstimatedBehavior{States: 2, Column: "obs_state", Actions: 2},
			Privacy:  &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6}},
		}}
		whole, err := j.Estimator.Plan(j.Public)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.enough(whole); (err != nil) != (want == 0) || err == nil && j.persons != want {
			t.Errorf("epsilon %v: %d persons, %v; want %d", epsilon, j.persons, err, want)
		}
	}
}
