package ingest

import (
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// quick is for whole episodes of a batch in which nothing is wrong, as most are: their
// columns go to a part without a stop at each episode. One about which there is anything to
// say is left to [Stream.Next], before anything is noted of it.
type quick struct {
	*Stream
	to       *trajectory.Dataset
	first    int // the last person before the part
	from     int // rows from here to at are of the part, and to be copied
	flags    [2]int
	hasFlags int
	ends     bool
	fixed    bool // it is stated that episodes terminate
}

// quickly adds whole episodes to a part. It tells whether the part is complete.
func (s *Stream) quickly(d *trajectory.Dataset, first int) bool {
	if !s.flawless() || d.HasFinal != nil {
		return false
	}
	q := quick{Stream: s, to: d, first: first, from: s.at, ends: s.ends(), fixed: s.o.OneRowEpisodes || s.o.End == trajectory.EndTerminated}
	for _, block := range [...]int{blkTerminated, blkTruncated} {
		if s.bound.has(block) && !s.sound[block] {
			q.flags[q.hasFlags] = block
			q.hasFlags++
		}
	}
	d.Columns, d.Actions = s.ep.Columns, 0
	if q.ends && d.Terminated == nil {
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
	if s.emitting() || s.hear != nil || s.outcomes != nil || len(s.batch.Faults) > 0 || s.batch.Rows == 0 || !b.has(blkReward) ||
		b.has(blkProbs) || b.has(blkNext) || o.RewardOnLast || o.Keep || o.Complete || o.ChecksEnds() || o.Steps.Rising() || o.Need&trajectory.Final != 0 {
		return
	}
	for block := range blocks {
		switch {
		case !b.has(block) || s.sound[block]:
		case block == blkStep || block == blkPresence || block == blkCoded:
		case block != blkTerminated && block != blkTruncated:
			return
		default:
			for _, v := range s.values(block, 0, s.batch.Rows) {
				if v != 0 && v != 1 {
					return
				}
			}
		}
	}
	s.clean = true
}

// episode adds the episode that begins at the row at hand. It reports false where it does
// not, and that the part is complete without it.
func (q *quick) episode() (added, complete bool) {
	s := q.Stream
	lo, hi := s.at, s.at+1
	var id table.ID
	if !s.o.OneRowEpisodes {
		runs, i := &s.batch.Keys[keyEpisode], s.advance(keyEpisode)
		if hi = runs.End(i); hi >= s.batch.Rows { // it may go on
			return false, false
		}
		id = runs.ID(i)
	}
	named := s.bound.hasKey[keyUnit]
	same, ok := q.ofLast(lo, hi)
	if !ok || s.parts.person != s.parts.latest || !s.o.OneRowEpisodes && id.Missing() {
		return false, false
	}
	n := hi - lo
	ended, ok := q.sound(lo, hi)
	if !ok {
		return false, false
	}
	if !same && (q.to.Rows()+lo-q.from >= partRows || s.parts.person-q.first >= partPersons) {
		return false, true
	}
	t := tally{}
	if same {
		t = s.tally.of(s.parts.person)
	}
	if s.capped(t, n) || !same && !q.enter(named, &id) || same && !s.o.OneRowEpisodes && !s.freshEpisode(&id) {
		return false, false
	}
	s.tally.put(s.parts.person, tally{t.decisions + n, t.episodes + 1})
	s.met++
	s.rewards += n
	s.at = hi
	if !ended && !q.fixed && s.o.End == trajectory.EndColumn && !s.o.EndStated {
		s.unflagged()
	}
	d := q.to
	if !same && s.parts.person-1 > q.first {
		d.PersonStart = append(d.PersonStart, d.Episodes())
	}
	d.EpisodeStart = append(d.EpisodeStart, d.EpisodeStart[len(d.EpisodeStart)-1]+n)
	if q.ends {
		d.Terminated = append(d.Terminated, q.fixed || q.terminated(hi-1))
	}
	row, _ := table.Place(s.batch.Row[lo])
	d.Origin, d.FirstRow = append(d.Origin, s.files[s.index]), append(d.FirstRow, row)
	return true, false
}

// ofLast tells whether rows are of the last person, and that they are of one.
func (q *quick) ofLast(lo, hi int) (same, ok bool) {
	s := q.Stream
	if !s.bound.hasKey[keyUnit] {
		return false, true
	}
	runs, i := &s.batch.Keys[keyUnit], s.advance(keyUnit)
	if runs.End(i) < hi {
		return false, false
	}
	if lo > 0 && (s.window == nil || lo > s.window.from) { // the row before was read
		return runs.Start(i) < lo, true
	}
	unit := runs.ID(i)
	return s.parts.person >= 0 && s.persons.is(s.parts.person, &unit), true
}

// sound tells that steps count up and that no flag is up before the last row, and whether one
// is there.
func (q *quick) sound(lo, hi int) (ended, ok bool) {
	s := q.Stream
	if s.bound.has(blkStep) && counted(s.values(blkStep, lo, hi), float64(s.o.Steps.From-1)) < hi-lo {
		return false, false
	}
	for _, block := range q.flags[:q.hasFlags] {
		flags := s.values(block, lo, hi)
		for _, v := range flags[:hi-lo-1] {
			if v != 0 {
				return false, false
			}
		}
		ended = ended || flags[hi-lo-1] != 0
	}
	return ended, true
}

func (q *quick) terminated(row int) bool {
	return q.bound.has(blkTerminated) && q.batch.Blocks[blkTerminated].Values[row] != 0
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
func (q *quick) enter(named bool, id *table.ID) bool {
	s := q.Stream
	var unit table.ID
	person := id
	if named {
		unit = s.batch.Keys[keyUnit].ID(s.run[keyUnit])
		person = &unit
	}
	anonymous := !named && s.o.OneRowEpisodes
	if !anonymous && (person.Missing() || s.spellings.odd.len() > 0 || person.Kind == table.TextID && (s.joinedUnits() || !isPlain(person.Text))) {
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
		for _, v := range s.values(blkAction, lo, hi) {
			d.Action = append(d.Action, int32(v))
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
