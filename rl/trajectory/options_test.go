package trajectory_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

func TestOptionsAreChecked(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		o    trajectory.Options
		want string
	}{
		{trajectory.Options{Need: 1 << 7}, "unknown part"},
		{trajectory.Options{Missing: 9}, "unknown way to treat missing values"},
		{trajectory.Options{Means: map[string]float64{"obs_a": 1}}, "means are given but missing values are not replaced by them; set missing to mean"},
		{trajectory.Options{Missing: trajectory.MissingMean, Means: map[string]float64{"obs_a": inf}}, "the mean of obs_a is not finite"},
		{trajectory.Options{Outside: trajectory.OutsideClip}, "rewards cannot be clipped without bounds; give the reward's min and max"},
		{trajectory.Options{Outside: 9}, "unknown way to treat rewards outside their bounds"},
		{trajectory.Options{Reward: &trajectory.Range{Min: 1, Max: 0}}, "reward bounds [1, 0] are not a range; give a finite min not above max"},
		{trajectory.Options{Reward: &trajectory.Range{Max: inf}}, "reward bounds [0, +Inf] are not a range; give a finite min not above max"},
		{trajectory.Options{Horizon: -1}, "horizon -1 is negative; give the most decisions a person contributes, or 0 for no cap"},
		{trajectory.Options{EpisodesPerPerson: -2}, "-2 episodes a person is negative; give the most episodes a person contributes, or 0 for no cap"},
		{trajectory.Options{OneRowEpisodes: true, Need: trajectory.Final}, "episodes of one row terminate and have no final observation; do not need one"},
		{trajectory.Options{Observations: []string{"a", "a"}}, "observation column a is listed twice"},
		{trajectory.Options{Observations: []string{""}}, "an observation column has no name"},
		{trajectory.Options{Columns: map[string]string{"reward": ""}}, "the column for reward has no name"},
		{trajectory.Options{Columns: map[string]string{"rewards": "r"}}, "rewards is not a canonical column; use one of episode_id, step, unit_id, obs_<name>, observation, action, behavior_prob, action_probs, prob_<k>, target_prob, reward, terminated, truncated, next_obs_<name>, next_observation, discount"},
	} {
		err := c.o.Validate()
		if err == nil || err.Error() != "invalid options: "+c.want || !errors.Is(err, trajectory.ErrOptions) {
			t.Errorf("%+v:\n got %v\nwant %s", c.o, err, c.want)
		}
	}
	good := trajectory.Options{Observations: []string{"age"}, Missing: trajectory.MissingMean, Reward: &trajectory.Range{Min: -1, Max: 1},
		Columns: map[string]string{"age": "AGE", "next_age": "AGE2", "obs_b": "b", "next_obs_b": "c", "prob_0": "p", "prob_10": "q"}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"prob_", "prob_01", "prob_-1", "obs_", "next_obs_", "next_reward", "obs_<name>"} {
		o := trajectory.Options{Columns: map[string]string{name: "x"}}
		if err := o.Validate(); err == nil {
			t.Errorf("%s is taken for a canonical name", name)
		}
	}
}
