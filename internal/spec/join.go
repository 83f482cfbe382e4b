package spec

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// survival is the outcome of a study of survival, nil where a value is asked for.
func survival(c config.Config) *config.Outcome {
	if o := c.Data.Outcome; o != nil && o.Column == "" {
		return o
	}
	return nil
}

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
	case len(o.Path) == 0:
		return nil
	case o.By != byPerson && o.By != byEpisode:
		return refuse(".by is %q; want unit_id or episode_id, by which the outcomes are joined", o.By)
	case o.Column == "" && !fromColumns(o):
		return refuse(".path names a file, and no column of it is asked for; give column, of the rewards, or time and event")
	case unit == evaluate.Row, unit == evaluate.Episode && o.By == byPerson:
		return refuse(".by is %s, and privacy.unit is %s, so that persons have no ids; protect persons, or join episodes by episode_id", o.By, unit)
	case o.By == byPerson && len(c.Data.Columns[byPerson]) > 1, o.By == byEpisode && len(c.Data.Columns[byEpisode]) > 1:
		return refuse(".by is %s, which is of several columns, and a file of outcomes has one; write the ids in one column of both files", o.By)
	case o.By == byEpisode && (c.Data.OneRowEpisodes || c.Data.EpisodePerPerson || c.Data.Episodes != nil || o.Column == ""):
		return refuse(".by is episode_id, and a person's rows, or a row, are the episode; want unit_id")
	}
	if o.Column == "" {
		return nil
	}
	reward := c.Problem.Reward
	switch {
	case o.Time != "" || o.Event != "" || o.Unit != "" || o.Causes != nil || o.Censored != nil || o.Bins != nil || o.Every != 0 || o.Until != 0 || o.Strata != nil || o.Times != "":
		return refuse(".column is a reward, and other keys ask for survival; leave column or these out")
	case c.Data.Columns["reward"] != nil && !slices.Equal(c.Data.Columns["reward"], config.Names{trajectory.NoColumn}):
		return refuse(".column is the reward, and so is data.columns.reward; leave one of them out")
	case o.By == byPerson && !c.Data.EpisodePerPerson && c.Problem.Episodes != 1 && c.Problem.Horizon != 1:
		return refuse(".by is unit_id, and a person may have several episodes, to which one outcome cannot belong; set problem.episodes: 1 or data.episode_per_person: true, or join by episode_id")
	case reward != nil && !(reward.Min <= 0 && reward.Max >= 0) && !c.Data.OneRowEpisodes:
		return refuse(".column is the reward of a last decision, and of the others it is 0, which problem.reward, [%g, %g], does not hold; widen it by public knowledge", reward.Min, reward.Max)
	}
	return nil
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
	if from.Column == "" {
		o.OutcomeColumn, o.OutcomeEvent = from.Time, from.Event
		o.Observations = slices.DeleteFunc(slices.Clone(o.Observations), func(name string) bool { return name == from.Event })
	}
}
