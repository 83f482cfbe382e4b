package ingest

import (
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// quick is for whole episodes of a batch in which nothing is wrong, as most are: their
// columns go to a part without a stop at each episode. One about which there is anything to
// say is left to [Stream.Next], before anything is noted of it.
type quick struct {
	*Stream
	to    *trajectory.Dataset
	first int // the last person before the part
	from  int // rows from here to at are of the part, and to be copied
}

// quickly adds whole episodes to a part. It tells whether the part is complete.
func (s *Stream) quickly(d *trajectory.Dataset, first int) bool {
	if !s.flawless() || d.HasFinal != nil {
		return false
	}
	q := quick{Stream: s, to: d, first: first, from: s.at}
	d.Columns, d.Actions = s.ep.Columns, 0
	if s.ends() && d.Terminated == nil {
		d.Terminated = []bool{}
	}
	complete := false
	for s.at < s.batch.Rows {
		var added bool
		if added, complete = q.episode(); !added {
			break
		}
	}
	q.copy()
	return complete
}

// flawless tells that nothing can be wrong with a value of the batch at hand, nor be done to it.
func (s *Stream) flawless() bool {
	if s.table == nil || s.at >= s.batch.Rows || !s.clean || s.nameless {
		return false
	}
	return s.people().len()+s.episodes.len()+s.unnamed+s.batch.Rows < maxNames
}

// sift notes whether a batch that was surveyed is clean.
func (s *Stream) sift() {
	o, b := &s.o, s.bound
	s.clean = false
	if s.hear != nil || s.outcomes != nil || len(s.batch.Faults) > 0 || s.batch.Rows == 0 || !b.has(blkReward) ||
		b.has(blkProbs) || b.has(blkNext) || o.RewardOnLast || o.Keep || o.Complete || o.ChecksEnds() || o.Steps.Rising() || o.Need&trajectory.Final != 0 {
		return
	}
	for block := range blocks {
		switch {
		case !b.has(block) || s.sound[block]:
		case block == blkStep || block == blkPresence || block == blkCoded:
		case block != blkTerminated && block != blkTruncated:
			return
		case s.batch.Blocks[block].Within(0, 1) && s.batch.Blocks[block].Whole():
		default:
			for _, v := range s.values(block, 0, s.batch.Rows) {
				if v != 0 && v != 1 {
					return
				}
			}
		}
	}
	s.clean = s.arranged == nil || s.arranged.rising || s.arranged.within(0, s.batch.Rows) == s.batch.Rows
}

// wholeEpisode finds how far the episode reaches that begins at the row at hand, and its id. It reports
// false where it may go on beyond the batch, or there is anything to say about it.
func (s *Stream) wholeEpisode() (hi int, id table.ID, ok bool) {
	hi = s.at + 1
	if !s.o.OneRowEpisodes {
		runs, i := &s.batch.Keys[keyEpisode], s.advance(keyEpisode)
		if hi = runs.End(i); hi >= s.batch.Rows {
			return hi, id, false
		}
		if id = runs.ID(i); id.Missing() {
			return hi, id, false
		}
		if runs.Missing(i + 1) { // which is taken for this episode's
			return hi, id, false
		}
	}
	if s.bound.hasKey[keyUnit] {
		if runs := &s.batch.Keys[keyUnit]; runs.End(s.advance(keyUnit)) < hi {
			return hi, id, false
		}
	}
	return hi, id, s.inOrder(s.at, hi)
}

// taken goes on behind an episode that was taken.
func (s *Stream) taken(hi int) (terminated bool) {
	s.met++
	s.rewards += hi - s.at
	s.at = hi
	terminated = s.o.OneRowEpisodes || s.o.End == trajectory.EndTerminated || s.flagged(blkTerminated, hi-1)
	if !terminated && s.o.End == trajectory.EndColumn && !s.o.EndStated && !s.flagged(blkTruncated, hi-1) {
		s.unflagged()
	}
	return terminated
}

func (s *Stream) flagged(block, row int) bool {
	return s.bound.has(block) && s.batch.Blocks[block].Values[row] != 0
}

// episode adds the episode that begins at the row at hand. It reports false where it does
// not, and that the part is complete without it.
func (q *quick) episode() (added, complete bool) {
	s := q.Stream
	lo := s.at
	hi, id, ok := s.wholeEpisode()
	if !ok || s.parts.person != s.parts.latest {
		return false, false
	}
	same, n := q.ofLast(lo), hi-lo
	if !same && (q.to.Rows()+lo-q.from >= partRows || s.parts.person-q.first >= partPersons) {
		return false, true
	}
	t := tally{}
	if same {
		t = s.tally.of(s.parts.person)
	}
	if s.capped(t, n) || !same && !q.enter(&id) || same && !s.o.OneRowEpisodes && !s.freshEpisode(&id) {
		return false, false
	}
	s.tally.put(s.parts.person, tally{t.decisions + n, t.episodes + 1})
	terminated := s.taken(hi)
	d := q.to
	if !same && s.parts.person-1 > q.first {
		d.PersonStart = append(d.PersonStart, d.Episodes())
	}
	d.EpisodeStart = append(d.EpisodeStart, d.EpisodeStart[len(d.EpisodeStart)-1]+n)
	if s.ends() {
		d.Terminated = append(d.Terminated, terminated)
	}
	row, _ := table.Place(s.batch.Row[lo])
	d.Origin, d.FirstRow = append(d.Origin, s.files[s.index]), append(d.FirstRow, row)
	return true, false
}

// ofLast tells whether a row is of the last person.
func (q *quick) ofLast(row int) bool {
	s := q.Stream
	if !s.bound.hasKey[keyUnit] {
		return false
	}
	runs, i := &s.batch.Keys[keyUnit], s.run[keyUnit]
	if row > 0 && (s.window == nil || row > s.window.from) { // the row before was read
		return runs.Start(i) < row
	}
	unit := runs.ID(i)
	return s.parts.person >= 0 && s.persons.is(s.parts.person, &unit)
}

// inOrder tells that steps count up and that no flag is up before the last row.
func (s *Stream) inOrder(lo, hi int) bool {
	if s.bound.has(blkStep) && counted(s.values(blkStep, lo, hi), float64(s.o.Steps.From-1)) < hi-lo {
		return false
	}
	for _, block := range [...]int{blkTerminated, blkTruncated} {
		if !s.bound.has(block) || s.sound[block] {
			continue
		}
		for _, v := range s.values(block, lo, hi-1) {
			if v != 0 {
				return false
			}
		}
	}
	return true
}

// capped tells that a cap may leave out something of an episode of n decisions.
func (s *Stream) capped(t tally, n int) bool {
	o := &s.o
	return o.EpisodeDecisions > 0 && n > o.EpisodeDecisions || o.Horizon > 0 && n > o.Horizon-t.decisions || o.EpisodesPerPerson > 0 && t.episodes >= o.EpisodesPerPerson
}

// freshEpisode names a further episode of the last person.
func (s *Stream) freshEpisode(id *table.ID) bool {
	_, fresh := s.episodes.pair(id, &table.ID{})
	return fresh
}

// enter names an episode of a person who comes after all others. It reports false, and
// names nothing, where an id is known or its spelling has to be looked at.
func (q *quick) enter(id *table.ID) bool {
	s := q.Stream
	named := s.bound.hasKey[keyUnit]
	var unit table.ID
	person := id
	if named {
		unit = s.batch.Keys[keyUnit].ID(s.run[keyUnit])
		person = &unit
	}
	anonymous := !named && s.o.OneRowEpisodes
	if !anonymous && !s.plainly(person) {
		return false
	}
	switch {
	case anonymous:
		s.parts.latest = s.unnamed
		s.unnamed++
	case !named || s.o.OneRowEpisodes:
		number, fresh := s.people().add(person)
		if !fresh {
			return false
		}
		s.parts.latest = number
	case s.episodes.allOf(s.persons) && id.Equal(&unit):
		number, fresh := s.persons.add(&unit)
		if !fresh {
			return false
		}
		s.episodes.count++
		s.parts.latest = number
	default:
		if _, known := s.persons.find(&unit); known {
			return false
		}
		if _, fresh := s.episodes.pair(id, &unit); !fresh {
			return false
		}
		s.parts.latest, _ = s.persons.add(&unit)
	}
	s.parts.person++
	if !anonymous {
		s.spellings.first.add(int64(s.index)<<rowBits | int64(s.batch.Row[s.at]))
	}
	return true
}

// plainly tells that nothing is to be said about the spelling of an id.
func (s *Stream) plainly(id *table.ID) bool {
	return s.spellings.odd.len() == 0 && !id.Missing() && (id.Kind != table.TextID || !s.joinedUnits() && isPlain(id.Text))
}

// single is [Stream.assemble] and [Stream.cap] of a whole episode of a batch in which nothing is
// wrong. It reports false where it has done nothing. The columns of the episode are those of the
// batch.
func (s *Stream) single() bool {
	if s.parts.begun || !s.flawless() || !s.bound.hasKey[keyUnit] || s.o.OneRowEpisodes {
		return false
	}
	lo := s.at
	hi, id, ok := s.wholeEpisode()
	if !ok {
		return false
	}
	unit := s.batch.Keys[keyUnit].ID(s.run[keyUnit])
	person, known := s.persons.find(&unit)
	t := tally{}
	if known {
		t = s.tally.of(person)
	}
	if s.capped(t, hi-lo) || !known && !s.plainly(&unit) {
		return false
	}
	number, fresh := s.episodes.pair(&id, &unit)
	if !fresh {
		return false
	}
	if !known {
		person, _ = s.persons.add(&unit)
		s.spellings.first.add(int64(s.index)<<rowBits | int64(s.batch.Row[lo]))
	}
	s.begin()
	s.ep.Person, s.ep.Number, s.ep.File = person, number, s.index
	s.ep.Row, _ = table.Place(s.batch.Row[lo])
	s.state.begun, s.state.rows = true, hi-lo
	b := &s.buf
	for _, v := range s.columnOf(blkAction, lo, hi) {
		b.action = append(b.action, int32(v))
	}
	s.hand()
	s.ep.Obs, s.ep.Reward = s.columnOf(blkObs, lo, hi), s.columnOf(blkReward, lo, hi)
	s.ep.BehaviorProb, s.ep.TargetProb, s.ep.Discount = s.columnOf(blkBehavior, lo, hi), s.columnOf(blkTarget, lo, hi), s.columnOf(blkDiscount, lo, hi)
	s.ep.Terminated = s.taken(hi)
	if s.o.Horizon > 0 || s.o.EpisodesPerPerson > 0 {
		s.tally.put(person, tally{t.decisions + hi - lo, t.episodes + 1})
	}
	return true
}

// columnOf is a block of rows, nil where the data have none.
func (s *Stream) columnOf(block, lo, hi int) []float64 {
	if !s.bound.has(block) {
		return nil
	}
	return slices.Clip(s.values(block, lo, hi))
}

// copy adds the columns of the episodes that were added.
func (q *quick) copy() {
	s, d := q.Stream, q.to
	lo, hi := q.from, s.at
	if lo == hi {
		return
	}
	if s.bound.has(blkObs) {
		d.Obs = append(d.Obs, s.values(blkObs, lo, hi)...)
	}
	d.Reward = append(d.Reward, s.values(blkReward, lo, hi)...)
	if s.bound.has(blkAction) {
		from := len(d.Action)
		d.Action = slices.Grow(d.Action, hi-lo)[:from+hi-lo]
		to := d.Action[from:]
		for i, v := range s.values(blkAction, lo, hi) {
			to[i] = int32(v)
		}
	}
	for _, c := range [...]struct {
		block int
		to    *[]float64
	}{{blkBehavior, &d.BehaviorProb}, {blkTarget, &d.TargetProb}, {blkDiscount, &d.Discount}} {
		if s.bound.has(c.block) {
			*c.to = append(*c.to, s.values(c.block, lo, hi)...)
		}
	}
}
