package ingest

import (
	"errors"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// joinState is how far streams of the stretches of a file were joined.
type joinState struct {
	end   int64 // of the stretches that were joined, in places of the format
	after int   // to be added to the numbers of rows
	begun bool
}

// Cut divides the reading of the data among streams, for several workers to read at a
// time: [Stream.Part] of each gives the persons who begin in its stretch. Each is given
// to [Stream.Join] in order, and what s has then found is what it would have found by
// itself. It is nil where only one worker can read, or would be the one to tell what is
// wrong; s is then of no further use. Close releases the file, once all of them are at
// their ends.
func (s *Stream) Cut(workers int) []*Stream {
	if len(s.files) != 1 || workers < 2 || s.o.Arranges() {
		return nil
	}
	if s.readOutcomes() != nil {
		return nil
	}
	b, err := s.bindNext()
	if err != nil || b.widest() > widestDivided {
		return nil
	}
	key := keyUnit
	if !b.hasKey[keyUnit] {
		key = keyEpisode
	}
	c, ok := s.table.(table.Cuttable)
	if !ok || !b.hasKey[key] || b.joinsKey(key) {
		return nil
	}
	for _, n := range b.notices {
		s.notice(n)
	}
	var out []*Stream
	for i, open := range c.Cut(workers) {
		w := &window{key: key, skipping: i > 0}
		o := s.o
		o.Progress, o.Faults = nil, 0
		x, err := NewStream(s.ctx, table.Format{Name: s.format.Name, Open: func(string) (table.Table, error) {
			var err error
			w.Stretch, err = open()
			return w, err
		}}, s.files, o)
		if err != nil {
			return nil
		}
		x.window, x.outcomes = w, s.outcomes
		out = append(out, x)
	}
	return out
}

// widest is how many numbers a row has.
func (b *binding) widest() int {
	n := 0
	for _, w := range b.width {
		n += w
	}
	return n
}

// Join takes over what the next of the streams of Cut has found; Part of it has returned
// io.EOF. It reports false where a stream of all the data is to say what is wrong, or
// whether anything is: the caller then reads them anew.
func (s *Stream) Join(x *Stream) bool {
	if s.ctx.Err() != nil || !errors.Is(x.err, io.EOF) || x.faults.total > 0 {
		return false
	}
	start, end := x.window.Span()
	if s.joins.begun && start != s.joins.end {
		return false
	}
	s.joins.begun, s.joins.end = true, end
	if !s.newNames(x) {
		return false
	}
	for _, n := range x.notices {
		s.notice(n)
	}
	s.violations.merge(x.violations, x.files[0], s.joins.after)
	s.repaired.Rewards += x.repaired.Rewards
	s.repaired.Observations += x.repaired.Observations
	addAll(s.replaced, x.replaced)
	if x.seconds > 0 {
		s.second(place{row: x.firstSecond.row + s.joins.after})
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
	s.joins.after += x.window.Numbered()
	if s.o.Progress != nil {
		s.o.Progress(trajectory.Progress{File: s.files[0], Files: 1, Bytes: x.window.Progress(), Size: s.size, Rows: s.rows})
	}
	return true
}

// newNames adds the names of another stream, unless one of them is known, or may be
// another spelling of one that is.
func (s *Stream) newNames(x *Stream) bool {
	people, theirs := s.people(), x.people()
	if s.episodes.len()+people.len()+x.episodes.len()+theirs.len() >= maxNames {
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
	s.tellRepairs()
	return true
}
