package spec

import (
	"fmt"
	"strconv"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Values of data.reward.on and of data.reward.missing.
const (
	onLastRow     = "last_row"
	missingIsZero = "zero"
)

// readRewards reads on which rows rewards stand, and what an empty one means.
func readRewards(c config.Config, o *trajectory.Options) error {
	r := c.Data.Reward
	if r == nil {
		return nil
	}
	b := c.Problem.Reward
	switch {
	case r.On == "" && r.Missing == "":
		return fmt.Errorf("%w: data.reward says nothing; want {on: last_row} or {missing: zero}, or leave it out", config.ErrConfig)
	case r.On != "" && r.On != onLastRow:
		return fmt.Errorf("%w: data.reward.on is %q; want last_row, or leave it out where every row has a reward", config.ErrConfig, r.On)
	case r.Missing != "" && r.Missing != missingIsZero:
		return fmt.Errorf("%w: data.reward.missing is %q; want zero, or leave it out: a missing reward then makes its episode unusable", config.ErrConfig, r.Missing)
	case r.On != "" && r.Missing != "":
		return fmt.Errorf("%w: data.reward has on and missing: without a reward on its last row an episode has no outcome, or its reward is 0; leave one of the two out", config.ErrConfig)
	case c.Data.Outcome != nil:
		return fmt.Errorf("%w: data.reward and data.outcome both say where an outcome stands; leave data.reward out", config.ErrConfig)
	case r.On != "" && c.Data.OneRowEpisodes:
		return fmt.Errorf("%w: data.reward.on is last_row, and with data.one_row_episodes every row is the last of its episode; leave data.reward out", config.ErrConfig)
	case b != nil && !(b.Min <= 0 && b.Max >= 0):
		return fmt.Errorf("%w: data.reward says that an empty reward is 0, and problem.reward is [%g, %g], without 0; widen it by public knowledge", config.ErrConfig, b.Min, b.Max)
	}
	o.RewardOnLast, o.EmptyIsZero = r.On != "", r.Missing != ""
	return nil
}

// Words of a release about empty rewards.
const (
	RewardsOnLastRow = "on the last row of an episode; empty ones before it are 0, and an episode without one there is left out"
	RewardsOrZero    = "an empty reward is 0, as the curator states"
	RewardsListed    = "of the last decision of an episode, by a file of outcomes; the others are 0, and whoever is not in the file has the outcome %s, as the curator states"
	RewardsJoined    = "of the last decision of an episode, from a file of outcomes; the others are 0, and an episode without an outcome is left out"
)

// rewardWords says to a reader of a release what an empty reward is; "" where it is missing.
func rewardWords(c config.Config) string {
	switch r := c.Data.Reward; {
	case isReward(c.Data.Outcome) && c.Data.Outcome.Absent != nil:
		absent, _ := worthOf(c, "absent", c.Data.Outcome.Absent) // which was checked
		return fmt.Sprintf(RewardsListed, strconv.FormatFloat(*absent, 'g', -1, 64))
	case isReward(c.Data.Outcome):
		return RewardsJoined
	case r == nil:
		return ""
	case r.On != "":
		return RewardsOnLastRow
	}
	return RewardsOrZero
}
