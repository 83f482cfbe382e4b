package ingest

import (
	"errors"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// joinState is how far streams of the stretches of a file were joined.
type joinState struct {
	file  int
	end   int64 // of the stretches of it that were joined, in places of the format
	after int   // to be added to the numbers of rows
	begun bool
}

// Join takes over what the next of the streams of Cut has found; Part of it has returned
// io.EOF. It reports false where a stream of all the data is to say what is wrong, or
// whether anything is: the caller then reads them anew.
func (s *Stream) Join(x *Stream) bool {
	if s.ctx.Err() != nil || !errors.Is(x.err, io.EOF) || x.faults.total > 0 {
		return false
	}
	if s.joins.file != x.index {
		s.joins = joinState{file: x.index}
	}
	if x.window != nil {
		start, end := x.window.Span()
		if s.joins.begun && start != s.joins.end {
			return false
		}
		s.joins.begun, s.joins.end = true, end
	}
	if !s.newNames(x) {
		return false
	}
	for _, n := range x.notices {
		s.notice(n)
	}
	s.violations.merge(x.violations, x.files[x.index], s.joins.after)
	s.repaired.Rewards += x.repaired.Rewards
	s.repaired.Observations += x.repaired.Observations
	addAll(s.replaced, x.replaced)
	if x.seconds > 0 {
		s.second(place{file: x.firstSecond.file, row: x.firstSecond.row + s.joins.after})
		s.seconds += x.seconds - 1
	}
	for i, word := range x.joined {
		s.joined = grown(s.joined, i)
		s.joined[i] |= word
	}
	s.repaired.Empty += x.repaired.Empty
	s.repaired.Absent += x.repaired.Absent
	s.repaired.Episodes += x.repaired.Episodes
	s.unused.Episodes += x.unused.Episodes
	s.unused.Horizon += x.unused.Horizon
	s.unused.EpisodeDecisions += x.unused.EpisodeDecisions
	s.met, s.rewards, s.rows = s.met+x.met, s.rewards+x.rewards, s.rows+x.rows
	s.unnamed += x.unnamed
	bytes := x.size
	if x.window != nil {
		s.joins.after += x.window.Numbered()
		bytes = x.window.Progress()
	}
	if s.o.Progress != nil {
		s.o.Progress(trajectory.Progress{File: s.files[x.index], Index: x.index, Files: len(s.files), Bytes: bytes, Size: x.size, Rows: s.rows})
	}
	return true
}

// newNames adds the names of another stream, unless one of them is known, or may be
// another spelling of one that is.
func (s *Stream) newNames(x *Stream) bool {
	people, theirs := s.people(), x.people()
	if s.episodes.len()+people.len()+s.unnamed+x.episodes.len()+theirs.len()+x.unnamed >= maxNames {
		return false
	}
	odd := s.spellings.odd
	for i := 0; i < theirs.len() && odd.len() > 0; i++ {
		id := theirs.id(i)
		if _, ok := odd.find(&id); ok {
			return false
		}
	}
	for i := range x.spellings.odd.len() {
		plain := x.spellings.odd.id(i)
		if _, ok := people.find(&plain); ok {
			return false
		}
		if _, fresh := odd.add(&plain); !fresh {
			return false
		}
	}
	if s.episodes.allOf(people) && x.episodes.allOf(theirs) {
		s.episodes.count += theirs.len()
		return people.join(theirs)
	}
	if !s.episodes.join(x.episodes) {
		return false
	}
	return people == s.episodes || people.join(theirs)
}

// Joined ends the reading by stretches. It reports false where the data have to be read
// anew.
func (s *Stream) Joined() bool {
	if s.rows == 0 || s.unchanged() != nil {
		return false
	}
	for _, o := range s.others {
		if unchanged(s.ctx, o.path, o.info) != nil {
			return false
		}
	}
	s.tellRepairs()
	return true
}
