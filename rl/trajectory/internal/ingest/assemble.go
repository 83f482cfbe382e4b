package ingest

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// episodeState is what must be remembered between the segments of one episode,
// which lie in different batches.
type episodeState struct {
	begun    bool    // a row of it was seen
	leftOut  bool    // for a violation
	nameless bool    // a row of it, or just before it, has no id, which is a fault: what else follows from that is not told
	rows     int     // decisions taken
	ended    bool    // the last decision is flagged as the last
	flagAt   place   // its row
	endFlag  int     // the block of that flag
	final    bool    // an observation without a decision was seen
	finalAt  place   // its row
	step     float64 // of the last decision

	outcome bool  // the last decision has a reward, where only the last may
	early   place // its row, if the reward is not 0

	breach breach // of an episode that is kept

	clipped, replaced, empty int // rewards and observations that were repaired, and empty rewards
	absent                   int // 1 if the outcome is that of an id without a row
}

// describe sets what the episodes of a file have in common.
func (s *Stream) describe() {
	s.ep.Columns = s.bound.observations
	if s.o.OutcomeEvent != "" {
		s.ep.Columns = append(slices.Clone(s.ep.Columns), s.o.OutcomeEvent)
	}
	s.ep.Actions = s.bound.width[blkProbs]
}

// begin empties the episode and keeps its memory.
func (s *Stream) begin() {
	s.state = episodeState{step: float64(s.o.Steps.From - 1), nameless: s.nameless}
	s.nameless = false
	if s.o.Steps.Rising() {
		s.state.step = math.Inf(-1)
	}
	b := &s.buf
	b.obs, b.action, b.reward, b.final = b.obs[:0], b.action[:0], b.reward[:0], b.final[:0]
	for i := range b.plain {
		b.plain[i] = b.plain[i][:0]
	}
	clear(b.replaced)
	s.ep.Lacks = 0
	s.ep.Number, s.ep.Terminated = -1, s.o.OneRowEpisodes || s.o.End == trajectory.EndTerminated
}

// buffers hold the columns of one episode.
type buffers struct {
	obs, reward, final, next []float64
	action                   []int32
	plain                    [blocks][]float64
	replaced                 []int // by place of an observation
}

// finish hands the columns over to s.ep and checks the end of the episode.
func (s *Stream) finish() error {
	if !s.state.begun {
		return nil
	}
	s.met++
	if s.state.rows == 0 && s.state.final {
		s.violation(s.state.finalAt, &trajectory.InputError{Column: s.lacked(),
			What: "is missing, and the episode has no decision before it", Remedy: "drop the row", Kind: trajectory.ErrEpisode})
	}
	s.joinOutcome()
	s.checkEnd()
	switch {
	case s.o.Keep && (s.state.leftOut || s.state.final && slices.ContainsFunc(s.buf.final, table.IsNull)):
		s.keep()
	case s.state.leftOut:
		s.clear()
	}
	s.hand()
	return s.ended()
}

// hand sets the columns of s.ep.
func (s *Stream) hand() {
	e, b := &s.ep, &s.buf
	e.Obs, e.Reward = b.obs, b.reward
	e.Action = nil
	if s.bound.has(blkAction) {
		e.Action = b.action
	}
	e.BehaviorProb = s.part(blkBehavior)
	e.ActionProbs = s.part(blkProbs)
	e.TargetProb = s.part(blkTarget)
	e.Discount = s.part(blkDiscount)
	e.Final = nil
	if len(b.final) > 0 {
		e.Final = b.final
	}
	e.EndUnknown = !s.ends()
}

// ends tells that it is known how episodes end.
func (s *Stream) ends() bool {
	return s.o.OneRowEpisodes || s.o.End != trajectory.EndColumn || s.bound.has(blkTerminated)
}

// part is the column of a block, nil where the data have none.
func (s *Stream) part(block int) []float64 {
	if !s.bound.has(block) {
		return nil
	}
	return s.buf.plain[block]
}

// checkEnd is about how the episode ends.
func (s *Stream) checkEnd() {
	if s.state.rows == 0 || s.state.leftOut {
		return
	}
	if !s.state.ended && !s.o.OneRowEpisodes && s.o.End == trajectory.EndColumn && !s.o.EndStated {
		s.unflagged()
	}
	s.noOutcome()
	s.contradicted()
	if s.state.final && s.ep.Terminated && !s.bound.has(blkAction) && !s.bound.has(blkPresence) {
		s.violation(s.state.finalAt, &trajectory.InputError{Column: s.name(blkReward, 0),
			What: "is missing in the last row of an episode that terminated, and no column action tells whether the row is a decision", Remedy: "give the reward, or drop the row if it is an observation after the last decision", Kind: trajectory.ErrValue})
	}
	if s.o.Complete && !s.o.Censored && !s.o.OneRowEpisodes && !s.ep.Terminated && s.ends() {
		s.cutOff()
	}
	if s.o.Need&trajectory.Final != 0 && !s.ep.Terminated && len(s.buf.final) == 0 && len(s.ep.Columns) > 0 {
		s.violation(s.state.flagAt, &trajectory.InputError{What: "the episode is truncated here, and the observation after it is unknown",
			Remedy: "add next_obs columns, or a last row with the observation and neither action nor reward", Kind: trajectory.ErrEpisode})
	}
}

func (s *Stream) unflagged() {
	s.notice("an episode whose last row is neither terminated nor truncated is taken for truncated")
}

// cutOff refuses of complete data an episode that ended before its last decision.
func (s *Stream) cutOff() {
	last, name := s.o.Horizon, "problem.horizon"
	if k := s.o.EpisodeDecisions; k > 0 {
		last, name = k, "problem.episode_horizon"
	}
	if s.state.rows >= last {
		return
	}
	s.violation(s.state.flagAt, &trajectory.InputError{What: fmt.Sprintf("the episode was cut off here, before decision %d, the last that %s allows, and problem.records is complete", last, name),
		Remedy: "leave problem.records out, so that the interval allows for what would have followed; or lower " + name + "; or set problem.end: terminated where nothing follows a last row", Kind: trajectory.ErrEpisode})
}

// contradicted is about flags of an episode that tell of it as cut off, against what is
// stated of all.
func (s *Stream) contradicted() {
	if !s.o.ChecksEnds() || s.state.ended && s.state.endFlag == blkTerminated {
		return
	}
	fault := func(block int, what string) {
		s.violation(s.state.flagAt, &trajectory.InputError{Column: s.name(block, 0), What: what + ", and problem.end says that every episode terminated",
			Remedy: "mend the flag, or leave problem.end and problem.records out", Kind: trajectory.ErrEpisode})
	}
	switch {
	case s.bound.has(blkTerminated):
		fault(blkTerminated, "is false in the last row of the episode")
	case s.state.ended:
		fault(blkTruncated, "is true")
	}
}

// take adds the rows lo to hi-1 of the batch, which belong to the episode at
// hand. They are checked column by column; where reading ends at the first fault,
// that is the one of the first row.
func (s *Stream) take(lo, hi int) error {
	if s.state.final {
		s.state.final = false
		s.decided()
		s.violation(s.state.finalAt, &trajectory.InputError{Column: s.lacked(),
			What: "is missing before the last row of the episode", Remedy: "give every decision its reward", Kind: trajectory.ErrValue})
		if err := s.ended(); err != nil {
			return err
		}
	}
	last := hi
	if s.isFinal(hi - 1) {
		last = hi - 1
	}
	c := checker{s: s, lo: lo, hi: last}
	c.rows()
	if last < hi {
		c.final(last)
	}
	if err := s.ended(); err != nil {
		return err
	}
	if last > lo {
		s.append(lo, last)
	}
	if last < hi {
		s.takeFinal(last)
	}
	return nil
}

// decided takes the row that was taken for a last one without a decision, before others, for
// a decision without an action, as it would have been in one batch with those.
func (s *Stream) decided() {
	if s.state.rows == 0 {
		s.ep.File = s.state.finalAt.file
		s.ep.Row, _ = table.Place(s.state.finalAt.row)
	}
	s.state.rows++
	s.buf.obs, s.buf.next = append(s.buf.obs, s.buf.final...), s.buf.next[:0]
	if s.o.Keep {
		s.undecided()
	}
}

// isFinal tells whether a row is an observation without a decision.
func (s *Stream) isFinal(row int) bool {
	if s.o.OneRowEpisodes || s.bound.has(blkReward) && !table.IsNull(s.batch.Blocks[blkReward].Values[row]) {
		return false
	}
	if s.mayLack() && !s.bound.has(blkAction) && !s.bound.has(blkPresence) {
		return false // no action tells it from a decision without a reward
	}
	for _, block := range []int{blkAction, blkPresence} {
		if s.bound.has(block) && (!table.IsNull(s.batch.Blocks[block].Values[row]) || s.batch.Faulty(row, s.name(block, 0))) {
			return false
		}
	}
	return !s.batch.Faulty(row, s.name(blkReward, 0))
}

// append copies checked rows into the episode.
func (s *Stream) append(lo, hi int) {
	b := &s.buf
	if s.state.rows == 0 {
		s.ep.File = s.index
		s.ep.Row, _ = table.Place(s.batch.Row[lo])
	}
	from := len(b.obs)
	b.obs = append(b.obs, s.values(blkObs, lo, hi)...)
	s.impute(b.obs[from:], true)
	from = len(b.reward)
	if b.reward = append(b.reward, s.values(blkReward, lo, hi)...); !s.bound.has(blkReward) {
		b.reward = append(b.reward, make([]float64, hi-lo)...)
	}
	s.zeros(b.reward[from:])
	s.clip(b.reward[from:])
	if s.bound.has(blkAction) {
		for _, v := range s.values(blkAction, lo, hi) {
			b.action = append(b.action, s.action(v))
		}
	}
	for _, block := range [...]int{blkBehavior, blkProbs, blkTarget, blkDiscount} {
		if s.bound.has(block) {
			b.plain[block] = append(b.plain[block], s.values(block, lo, hi)...)
		}
	}
	s.state.rows += hi - lo
	s.state.flagAt = s.place(hi - 1)
	s.takeFlags(hi - 1)
	if s.bound.has(blkNext) {
		s.takeNext(hi - 1)
	}
}

// takeFlags reads the flags of a row that may be the last; terminated wins when
// both are set.
func (s *Stream) takeFlags(row int) {
	for _, block := range [...]int{blkTerminated, blkTruncated} {
		if !s.bound.has(block) || s.batch.Blocks[block].Values[row] != 1 {
			continue
		}
		if !s.state.ended {
			s.state.ended, s.state.endFlag = true, block
		}
		s.ep.Terminated = s.ep.Terminated || block == blkTerminated
	}
}

// takeNext remembers the next observations of a row that may be the last. If
// all of them are missing they are unknown.
func (s *Stream) takeNext(row int) {
	b := &s.buf
	b.next = append(b.next[:0], s.values(blkNext, row, row+1)...)
	b.final = b.final[:0]
	if s.bound.known(b.next) {
		b.final = append(b.final, b.next...)
		s.bound.fillOther(b.final)
		s.impute(b.final, false)
	}
}

// takeFinal reads an observation without a decision. Flags may stand in this
// row instead of the one before it.
func (s *Stream) takeFinal(row int) {
	s.state.final, s.state.finalAt = true, s.place(row)
	if s.o.Complete {
		s.violation(s.state.finalAt, &trajectory.InputError{Column: s.lacked(),
			What: "is missing, as is the action: problem.records is complete, and the row may be a decision that was lost", Remedy: "fill both in, or leave problem.records out, so that the interval allows for what is missing", Kind: trajectory.ErrValue})
	}
	s.buf.final = append(s.buf.final[:0], s.values(blkObs, row, row+1)...)
	s.impute(s.buf.final, true)
	s.takeFlags(row)
}

func (s *Stream) values(block, lo, hi int) []float64 {
	b := &s.batch.Blocks[block]
	return b.Values[lo*b.Width : hi*b.Width]
}

// impute replaces missing values of whole observations; the checks have made
// sure that there is a replacement.
func (s *Stream) impute(obs []float64, decided bool) {
	if s.o.Keep {
		s.imputeKept(obs, decided)
		return
	}
	if s.o.Missing == trajectory.MissingReject {
		return
	}
	w := s.bound.width[blkObs]
	for i, v := range obs {
		if v != v && !slices.Contains(s.o.Whole, s.ep.Columns[i%w]) { // which its episode is left out for
			obs[i] = s.o.Means[s.ep.Columns[i%w]] // 0 without means
			s.state.replaced++
			for len(s.buf.replaced) < w {
				s.buf.replaced = append(s.buf.replaced, 0)
			}
			s.buf.replaced[i%w]++
		}
	}
}

// name is the file's name for a place of a block.
func (s *Stream) name(block, offset int) string {
	if c := s.bound.column[block]; offset < len(c) {
		return c[offset]
	}
	return ""
}
