package evaluate

import (
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// The caps are on a person, not on an episode: two episodes of three decisions are
// six decisions.
func TestCapsAreThoseOfAPerson(t *testing.T) {
	d := &trajectory.Dataset{
		PersonStart: []int{0, 2, 3}, EpisodeStart: []int{0, 3, 6, 7},
		Reward: make([]float64, 7), Terminated: []bool{true, true, true},
	}
	for _, c := range []struct {
		horizon, episodes int64
		fits              bool
	}{{6, 2, true}, {6, 0, true}, {5, 2, false}, {3, 2, false}, {6, 1, false}} {
		plan, err := DPIS{}.Plan(Public{
			Persons: 2, Gamma: 1, Horizon: c.horizon, Episodes: c.episodes, Reward: Range{Min: 0, Max: 1}, Target: policy.Logged{},
			Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-3}},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = plan.Check(t.Context(), d)
		if fits := err == nil; fits != c.fits || !fits && !errors.Is(err, ErrData) {
			t.Errorf("horizon %d, episodes %d: %v; fits %v wanted", c.horizon, c.episodes, err, c.fits)
		}
	}
}
