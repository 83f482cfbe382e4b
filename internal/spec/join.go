package spec

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// survival is the outcome of a study of survival, nil where a value is asked for.
func survival(c config.Config) *config.Outcome {
	if o := c.Data.Outcome; o != nil && !isReward(o) {
		return o
	}
	return nil
}

// isReward tells of an outcome that it is the reward of a last decision.
func isReward(o *config.Outcome) bool { return o != nil && (o.Column != "" || o.Present != nil) }

// Values of data.outcome.by.
const (
	byPerson  = "unit_id"
	byEpisode = "episode_id"
)

// validateJoin checks the keys of outcomes that stand in files of their own.
func validateJoin(c config.Config) error {
	o := c.Data.Outcome
	if o == nil {
		return nil
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: data.outcome"+format, append([]any{config.ErrConfig}, args...)...)
	}
	unit := evaluate.Unit(c.Privacy.Unit)
	switch {
	case len(o.Path) == 0 && o.Column != "":
		return refuse(".column is %q, and data.outcome.path names no file; give it, or map the reward of the data by data.columns: {reward: %[1]s}", o.Column)
	case len(o.Path) == 0 && o.By != "":
		return refuse(".by is for outcomes in a file of their own; give data.outcome.path, or leave it out")
	case len(o.Path) == 0 && (o.Absent != nil || o.Present != nil):
		return refuse(".absent and present are for outcomes in a file of their own; give data.outcome.path, or leave them out")
	case len(o.Path) == 0:
		return nil
	case o.Column != "" && o.Present != nil:
		return refuse(".column is %q, and present gives all of its rows one outcome; leave one of them out", o.Column)
	case survival(c) != nil && o.Absent != nil:
		return refuse(".absent is the outcome of whoever has no row, who has no time until it; leave it out, and write a row with time and event for everybody")
	case o.By != byPerson && o.By != byEpisode:
		return refuse(".by is %q; want unit_id or episode_id, by which the outcomes are joined", o.By)
	case !isReward(o) && !fromColumns(o):
		return refuse(".path names a file, and no column of it is asked for; give column, of the rewards, present where it lists ids alone, or time and event")
	case unit == evaluate.Row, unit == evaluate.Episode && o.By == byPerson:
		return refuse(".by is %s, and privacy.unit is %s, so that persons have no ids; protect persons, or join episodes by episode_id", o.By, unit)
	case o.By == byPerson && len(c.Data.Columns[byPerson]) > 1, o.By == byEpisode && len(c.Data.Columns[byEpisode]) > 1:
		return refuse(".by is %s, which is of several columns, and a file of outcomes has one; write the ids in one column of both files", o.By)
	case o.By == byEpisode && (c.Data.OneRowEpisodes || c.Data.EpisodePerPerson || c.Data.Episodes != nil || !isReward(o)):
		return refuse(".by is episode_id, and a person's rows, or a row, are the episode; want unit_id")
	}
	if !isReward(o) {
		return nil
	}
	reward := c.Problem.Reward
	stated := map[string]*float64{}
	for key, v := range map[string]*config.Value{"absent": o.Absent, "present": o.Present} {
		worth, err := worthOf(c, key, v)
		if err != nil {
			return err
		}
		stated[key] = worth
		if worth != nil && reward != nil && !(reward.Min <= *worth && *worth <= reward.Max) {
			return refuse(".%s is %g, which problem.reward, [%g, %g], does not hold; widen it by public knowledge", key, *worth, reward.Min, reward.Max)
		}
	}
	if o.Present != nil && (o.Absent == nil || *stated["absent"] == *stated["present"]) {
		return refuse(".present is the outcome of whoever has a row, and there is no other; give column, or absent with another outcome")
	}
	switch {
	case o.Time != "" || o.Event != "" || o.Unit != "" || o.Causes != nil || o.Censored != nil || o.Bins != nil || o.Every != 0 || o.Until != 0 || o.Strata != nil || o.Times != "":
		return refuse(" is a reward by column or present, and other keys ask for survival; leave one or the other out")
	case c.Data.Columns["reward"] != nil && !slices.Equal(c.Data.Columns["reward"], config.Names{trajectory.NoColumn}):
		return refuse(" is the reward, and so is data.columns.reward; leave one of them out")
	case o.By == byPerson && !c.Data.EpisodePerPerson && c.Problem.Episodes != 1 && c.Problem.Horizon != 1:
		return refuse(".by is unit_id, and a person may have several episodes, to which one outcome cannot belong; set problem.episodes: 1 or data.episode_per_person: true, or join by episode_id")
	case reward != nil && !(reward.Min <= 0 && reward.Max >= 0) && !c.Data.OneRowEpisodes:
		return refuse(" is the reward of a last decision, and of the others it is 0, which problem.reward, [%g, %g], does not hold; widen it by public knowledge", reward.Min, reward.Max)
	}
	return nil
}

// worthOf is the number that an outcome is: itself, or that of a word in data.encode; nil where none is given.
func worthOf(c config.Config, key string, v *config.Value) (*float64, error) {
	if v == nil {
		return nil, nil
	}
	words := c.Data.Encode["reward"]
	worth, at := 0.0, slices.Index(words.Words, v.Word)
	switch {
	case v.Numeric && words.Numeric:
		return nil, fmt.Errorf("%w: data.outcome.%s is a number, and data.encode has a vocabulary of numbers for the reward, of which it may be one; write those in quotes, or leave the vocabulary out", config.ErrConfig, key)
	case v.Numeric:
		var err error
		if worth, err = strconv.ParseFloat(v.Word, 64); err != nil || math.IsInf(worth, 0) || worth != worth {
			return nil, fmt.Errorf("%w: data.outcome.%s is %q; want a finite number", config.ErrConfig, key, v.Word)
		}
	case at < 0:
		return nil, fmt.Errorf("%w: data.outcome.%s is %q; want the number of that outcome, or a word of the reward in data.encode", config.ErrConfig, key, v.Word)
	default:
		worth = trajectory.Vocabulary(words).Code(at)
	}
	return &worth, nil
}

// readJoin reads which files hold the outcomes.
func readJoin(c config.Config, o *trajectory.Options) {
	if c.Data.Outcome == nil || len(c.Data.Outcome.Path) == 0 {
		return
	}
	from := c.Data.Outcome
	for _, path := range from.Path {
		o.OutcomeFiles = append(o.OutcomeFiles, c.Resolve(path))
	}
	o.OutcomeBy, o.OutcomeColumn = from.By, from.Column
	if isReward(from) {
		o.OutcomeAbsent, _ = worthOf(c, "absent", from.Absent) // which were checked
		o.OutcomePresent, _ = worthOf(c, "present", from.Present)
	} else {
		o.OutcomeColumn, o.OutcomeEvent = from.Time, from.Event
		o.Observations = slices.DeleteFunc(slices.Clone(o.Observations), func(name string) bool { return name == from.Event })
	}
}
