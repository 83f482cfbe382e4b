package trajectory_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

func encode(name string, v trajectory.Vocabulary) trajectory.Options {
	return trajectory.Options{Encode: map[string]trajectory.Vocabulary{name: v}}
}

func words(first, second float64, words ...string) trajectory.Vocabulary {
	return trajectory.Vocabulary{Words: words, Codes: []float64{first, second}}
}

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
		{trajectory.Options{ClipRewards: true}, "rewards cannot be clipped without bounds; give the reward's min and max"},
		{trajectory.Options{Reward: &trajectory.Range{Min: 1, Max: 0}}, "reward bounds [1, 0] are not a range; give a finite min not above max"},
		{trajectory.Options{Reward: &trajectory.Range{Max: inf}}, "reward bounds [0, +Inf] are not a range; give a finite min not above max"},
		{trajectory.Options{Horizon: -1}, "horizon -1 is negative; give the most decisions a person contributes, or 0 for no cap"},
		{trajectory.Options{EpisodesPerPerson: -2}, "-2 episodes a person is negative; give the most episodes a person contributes, or 0 for no cap"},
		{trajectory.Options{OneRowEpisodes: true, Need: trajectory.Final}, "episodes of one row terminate and have no final observation; do not need one"},
		{trajectory.Options{Observations: []string{"a", "a"}}, "observation column a is listed twice"},
		{trajectory.Options{Observations: []string{""}}, "an observation column has no name"},
		{trajectory.Options{Columns: map[string]string{"reward": ""}}, "the column for reward has no name; if there is none, map it to none"},
		{trajectory.Options{Columns: map[string]string{"reward": "y", "discount": "y"}}, "the column y is mapped to both discount and reward; map each name to a column of its own"},
		{trajectory.Options{Columns: map[string]string{"episode_id": "id", "unit_id": "id"}}, "the column id is mapped to both episode_id and unit_id; to take all rows of a person for one episode, map unit_id alone and set data.episode_per_person: true"},
		{trajectory.Options{EpisodePerPerson: true, OneRowEpisodes: true}, "an episode cannot be a row and all rows of a person; choose one of the two"},
		{trajectory.Options{EpisodePerPerson: true, Unit: trajectory.UnitEpisode}, "with one episode a person the episode is the person; choose the unit person"},
		{trajectory.Options{OneRowEpisodes: true, Steps: trajectory.Steps{From: 1}}, "episodes of one row have no steps; leave steps out, or for the first row of a person by its date take episode_per_person with an episode_horizon of 1"},
		{trajectory.Options{Separator: 'x'}, "unknown separator; want a comma, a semicolon, a tab or a bar"},
		{trajectory.Options{Steps: trajectory.Steps{From: 1, Ordered: true}}, "steps that are ordered, and numbered from 1; choose one of the two"},
		{trajectory.Options{Steps: trajectory.Steps{Date: "%Y-%d"}}, `the form of dates "%Y-%d" lacks the year, the month or the day; write it with %Y, %m, %d, %H, %M, %S and %z, such as %Y-%m-%d, or write iso or iso_zone`},
		{trajectory.Options{Steps: trajectory.Steps{Date: "2006-01-02"}}, `the form of dates "2006-01-02" has a part that is not known; write it with %Y, %m, %d, %H, %M, %S and %z, such as %Y-%m-%d, or write iso or iso_zone`},
		{trajectory.Options{Steps: trajectory.Steps{Date: "%d.%m.%Y %d"}}, `the form of dates "%d.%m.%Y %d" has a part twice; write it with %Y, %m, %d, %H, %M, %S and %z, such as %Y-%m-%d, or write iso or iso_zone`},
		{encode("action", trajectory.Vocabulary{}), "the vocabulary of action is empty; list the values that the column may hold"},
		{encode("action", words(0, 0, "a", "b")), "the vocabulary of action must give every action a number of its own, 0 or above"},
		{encode("action", words(0, 1.5, "a", "b")), "the vocabulary of action must give every action a number of its own, 0 or above"},
		{encode("action", words(-1, 1, "a", "b")), "the vocabulary of action must give every action a number of its own, 0 or above"},
		{encode("terminated", words(1, 2, "a", "b")), "the vocabulary of terminated must say 0 or 1 (false or true) of every value"},
		{encode("reward", words(1, inf, "a", "b")), "the vocabulary of reward gives a number that is not finite"},
		{encode("reward", trajectory.Vocabulary{Words: []string{"a"}, OneHot: true}), "the vocabulary of reward is one-hot; give every value its number"},
		{encode("sex", words(1, 2, "f", "f")), `the vocabulary of sex lists "f" twice`},
		{encode("sex", words(1, 2, "f", "")), `the vocabulary of sex lists the empty text, which is a missing value; leave it out`},
		{encode("sex", words(1, 2, "f")), `the vocabulary of sex has 1 words and 2 numbers for them`},
		{encode("sex", trajectory.Vocabulary{Words: []string{"1", "1.0"}, Numeric: true}), `the vocabulary of sex lists "1.0" twice`},
		{encode("sex", trajectory.Vocabulary{Words: []string{"f"}, Numeric: true}), `the vocabulary of sex is one of numbers, and "f" is none`},
		{encode("sex", trajectory.Vocabulary{Words: []string{"f"}, Codes: []float64{1}, OneHot: true}), `the vocabulary of sex is one-hot, and gives numbers; choose one of the two`},
		{encode("unit_id", words(1, 2, "a", "b")), "unit_id cannot have a vocabulary; the action, the reward, terminated, truncated and observations can"},
		{trajectory.Options{NA: []string{"f"}, Encode: encode("sex", words(1, 2, "f", "m")).Encode}, `the vocabulary of sex lists "f", which is a marker of missing values; leave one of them out`},
		{trajectory.Options{Observations: []string{"obs_sex"}, Encode: map[string]trajectory.Vocabulary{"sex": {Words: []string{"f"}, OneHot: true}}}, `obs_sex is one-hot and has a column for each value; name those that are wanted, such as obs_sex_f`},

		{trajectory.Options{Columns: map[string]string{"target_prob": "user_id"}}, "the column user_id cannot be that of the target's probabilities, because it is a name of unit_id; rename it in the file"},
		{trajectory.Options{Columns: map[string]string{"target_prob": "visit"}}, "the column visit cannot be that of the target's probabilities, because it is a name of step; rename it in the file"},
		{trajectory.Options{Columns: map[string]string{"target_prob": "truncated"}}, "the column truncated cannot be that of the target's probabilities, because it is a name of truncated; rename it in the file"},
		{trajectory.Options{Columns: map[string]string{"target_prob": "obs_x"}}, "the column obs_x cannot be that of the target's probabilities, because it is a name of obs_x; rename it in the file"},
		{trajectory.Options{Columns: map[string]string{"rewards": "r"}}, "rewards is not a canonical column; use one of episode_id, step, unit_id, obs_<name>, observation, action, behavior_prob, action_probs, prob_<k>, target_prob, reward, terminated, truncated, next_obs_<name>, next_observation, discount"},
	} {
		err := c.o.Validate()
		if err == nil || err.Error() != "invalid options: "+c.want || !errors.Is(err, trajectory.ErrOptions) {
			t.Errorf("%+v:\n got %v\nwant %s", c.o, err, c.want)
		}
	}
	good := trajectory.Options{Observations: []string{"age"}, Missing: trajectory.MissingMean, Reward: &trajectory.Range{Min: -1, Max: 1},
		Columns: map[string]string{"target_prob": "pi", "age": "AGE", "next_age": "AGE2", "obs_b": "b", "next_obs_b": "c", "prob_0": "p", "prob_10": "q"}}
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
