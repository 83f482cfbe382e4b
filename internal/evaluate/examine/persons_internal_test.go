package examine

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Where few persons have no plan, or one without a part of the whole plan (here the model of what follows an action, which noise
// would hide), runs are of eight times as many until one has its event and parts: too many to run is only what needs more. Without
// a model rules are learned of recorded probabilities, and what the runs did not look at is named.
func TestRunsAreOfAsManyPersonsAsAPlanNeeds(t *testing.T) {
	states, err := feature.NewTabular(2, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	two, err := policy.NewUniform(2)
	if err != nil {
		t.Fatal(err)
	}
	estimated := &evaluate.EstimatedBehavior{States: 2, Column: "obs_state", Actions: 2}
	for _, c := range []struct {
		behavior *evaluate.EstimatedBehavior
		epsilon  float64
		want     int64
		lacking  int
	}{
		{estimated, 50, 48, 0}, {estimated, 1, 384, 0}, {estimated, 0.1, 3072, 0}, {estimated, 0.01, 0, 0},
		{nil, 50, 48, 0}, {nil, 1, 3072, 0}, {nil, 0.1, few, 1},
	} {
		j := Job{Estimator: evaluate.DPLearn{}, Public: evaluate.Public{
			Persons: 100_000, Gamma: 1, Horizon: 3, Episodes: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Features: states, Target: two,
			Behavior: c.behavior,
			Privacy:  &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: c.epsilon, Delta: 1e-6}},
		}}
		whole, err := j.Estimator.Plan(j.Public)
		if err != nil {
			t.Fatal(err)
		}
		err = j.enough(whole)
		if (err != nil) != (c.want == 0) || err == nil && j.persons != c.want {
			t.Errorf("%+v: %d persons, %v", c, j.persons, err)
		}
		if err != nil {
			continue
		}
		plan, err := j.Estimator.Plan(j.small())
		if err != nil || len(lacking(whole, plan)) != c.lacking {
			t.Errorf("%+v: %v is not in the plan, %v", c, lacking(whole, plan), err)
		}
	}
}
