package ingest

import (
	"math"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// A reward that is empty is missing, unless the options say that it is 0: on every row, or
// on all but the last of an episode.

func (c *checker) rewards() {
	if c.s.o.RewardOnLast {
		c.onLast()
	}
	if !c.s.bound.has(blkReward) {
		c.decided()
		return
	}
	if c.s.sound[blkReward] {
		return
	}
	low, high := -math.MaxFloat64, math.MaxFloat64
	r := c.s.o.Reward
	if r != nil && !c.s.o.ClipRewards {
		low, high = r.Min, r.Max
	}
	for i, v := range c.s.values(blkReward, c.lo, c.hi) {
		if v >= low && v <= high {
			continue
		}
		row, name := c.lo+i, c.s.name(blkReward, 0)
		switch {
		case table.IsNull(v) && c.s.mayLack() && !c.s.presenceOnly(row):
		case table.IsNull(v):
			c.missing(row, name, "give every decision its reward; only a last row without action may lack it")
		case !finite(v):
			c.notFinite(row, name, v)
		default:
			c.refuse(row, name, "is outside the declared bounds ["+short(r.Min)+", "+short(r.Max)+"]",
				"widen the bounds by public knowledge, or clip rewards (outside: clip)")
		}
	}
}

// decided wants an action of every row whose reward stands elsewhere: without either it would be no
// decision, which only the last row may be.
func (c *checker) decided() {
	for row := c.lo; row < c.hi; row++ {
		if c.s.presenceOnly(row) {
			c.missing(row, canon.Action, "give every decision its action; only a last row may lack it")
		}
	}
}

// onLast notes which decisions have a reward, where only the last of an episode may. That a
// row is not the last shows when the next one comes, perhaps in another batch.
func (c *checker) onLast() {
	st, name := &c.s.state, c.s.name(blkReward, 0)
	for i, v := range c.s.values(blkReward, c.lo, c.hi) {
		if st.early.row > 0 {
			c.s.violation(st.early, &trajectory.InputError{Column: name, What: "stands before the last row of the episode, and data.reward.on is last_row",
				Remedy: "leave it empty there, or leave data.reward out", Kind: trajectory.ErrEpisode})
		}
		st.early, st.outcome = place{}, !table.IsNull(v) || c.s.batch.Faulty(c.lo+i, name)
		if st.outcome && v != 0 {
			st.early = c.s.place(c.lo + i)
		}
	}
}

// mayLack tells that a reward may be empty.
func (s *Stream) mayLack() bool { return s.o.RewardOnLast || s.o.EmptyIsZero || s.outcomes != nil }

// presenceOnly tells that a row has no action, though its file has a column of them.
func (s *Stream) presenceOnly(row int) bool {
	return s.bound.has(blkPresence) && table.IsNull(s.batch.Blocks[blkPresence].Values[row])
}

// noOutcome is about an episode whose last decision should have the reward, and has none.
func (s *Stream) noOutcome() {
	if s.o.RewardOnLast && !s.state.outcome {
		s.violation(s.state.flagAt, &trajectory.InputError{Column: s.name(blkReward, 0), What: "is missing in the last row of the episode, whose outcome is not known",
			Remedy: "give it; it is not 0 where data.reward.on is last_row", Kind: trajectory.ErrValue})
	}
}

// zeros puts 0 for rewards that are empty and may be.
func (s *Stream) zeros(rewards []float64) {
	if !s.mayLack() || !s.bound.has(blkReward) || s.sound[blkReward] {
		return
	}
	for i, v := range rewards {
		if table.IsNull(v) {
			rewards[i] = 0
			s.state.empty++
		}
	}
}

// lacked is what a row lacks that is no decision: the reward, or where it stands elsewhere the action.
func (s *Stream) lacked() string {
	if !s.bound.has(blkReward) {
		return canon.Action
	}
	return s.name(blkReward, 0)
}
