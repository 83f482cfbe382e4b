package ingest

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Persons is the number of persons met so far.
func (s *Stream) Persons() int {
	n := s.people().len() + s.unnamed
	if _, ok := s.people().find(&table.ID{}); ok { // whose id is missing
		n--
	}
	return n
}

// people names the persons: as the episodes where the files have no persons.
func (s *Stream) people() *names {
	if s.first != nil && !s.first.hasKey[keyUnit] && !s.o.OneRowEpisodes {
		return s.episodes
	}
	return s.persons
}

// named gives a new episode its number.
func (s *Stream) named(id *table.ID) error {
	var beside table.ID
	if s.bound.hasKey[keyUnit] {
		beside = s.batch.Keys[keyUnit].ID(s.advance(keyUnit))
	}
	number, fresh := s.episodes.pair(id, &beside)
	s.ep.Number = number
	at := place{s.index, s.batch.Row[s.at], ofEpisode}
	if s.hear != nil {
		return s.mention(false, id, at)
	}
	return s.numbered(id, number, fresh, at)
}

// numbered checks the id of a new episode.
func (s *Stream) numbered(id *table.ID, number int, fresh bool, at place) error {
	switch {
	case !fresh && s.o.Steps.Sort:
		return s.apart(at)
	case !fresh:
		return s.noteAt(at, s.faultAt(at, s.naming(), "an earlier episode has this id", s.remedyOrder(), trajectory.ErrEpisode))
	case s.people() == s.episodes:
		return s.spelled(s.naming(), id, number, at)
	}
	return nil
}

// naming is the column that names episodes.
func (s *Stream) naming() string {
	if s.o.EpisodePerPerson {
		return canon.Unit
	}
	return canon.Episode
}

// whose is what that column names.
func (s *Stream) whose() string {
	if s.o.EpisodePerPerson {
		return "person"
	}
	return "episode"
}

// remedyOrder says what to do about an id that comes again after others.
func (s *Stream) remedyOrder() string {
	if s.o.EpisodePerPerson {
		return "with data.episode_per_person the rows of a person stand together in one file: sort the rows by person and step (data.steps: {sort: true} does it, by a column that is mapped to step); if a person has several episodes, map episode_id instead"
	}
	return "sort the rows by episode and step (data.steps: {sort: true} does it), keep an episode in one file, and give episodes of different persons or files different ids"
}

// missing notes that the rows from lo to hi-1 lack a key.
func (s *Stream) missing(lo, hi int, column, remedy string) error {
	for row := lo; row < hi; row++ {
		if s.bound.faultyID(s.batch, row, column) {
			continue
		}
		if err := s.note(s.fault(row, column, s.isMissing(), remedy, trajectory.ErrValue)); err != nil {
			return err
		}
	}
	return nil
}

// advance moves to the run of keys that holds the row s.at.
func (s *Stream) advance(key int) int {
	i := s.run[key]
	for s.batch.Keys[key].End(i) <= s.at {
		i++
	}
	s.run[key] = i
	return i
}

// person checks that the rows from s.at to hi have one unit, and that it is the
// episode's; the first segment of an episode decides whose it is.
func (s *Stream) person(hi int) error {
	if !s.bound.hasKey[keyUnit] {
		s.ep.Person = s.ep.Number // the episode's number, or the row's
		if s.o.OneRowEpisodes {
			s.ep.Person = s.unnamed
			s.unnamed++
		}
		return nil
	}
	if s.nameless && s.state.begun {
		return nil // whose the rows are is not known, which is told
	}
	runs := &s.batch.Keys[keyUnit]
	for i, row := s.advance(keyUnit), s.at; row < hi; i, row = i+1, runs.End(i) {
		id := runs.ID(i)
		if err := s.owner(&id, row, !s.state.begun && row == s.at); err != nil {
			return err
		}
	}
	return nil
}

// owner takes the unit of a row on: the first row of an episode decides whose it
// is.
func (s *Stream) owner(unit *table.ID, row int, first bool) error {
	switch {
	case !first && s.persons.is(s.ep.Person, unit):
		return nil
	case s.bound.faultyID(s.batch, row, canon.Unit):
	case unit.Missing() && first && s.o.EpisodePerPerson: // told of the same column
	case unit.Missing() && !first:
		return s.missing(row, row+1, canon.Unit, "give every row the id of its person")
	case !first:
		if err := s.note(s.fault(row, canon.Unit, "changes within an episode", "give all rows of an episode to one person", trajectory.ErrEpisode)); err != nil {
			return err
		}
	case unit.Missing():
		if err := s.missing(row, row+1, canon.Unit, "give every row the id of its person"); err != nil {
			return err
		}
	}
	fresh := false
	if s.ep.Person, fresh = s.persons.add(unit); fresh {
		at := place{s.index, s.batch.Row[row], ofPerson}
		if s.hear != nil {
			return s.mention(true, unit, at)
		}
		return s.spelled(canon.Unit, unit, s.ep.Person, at)
	}
	return nil
}

// spelled refuses a new unit whose id is another spelling of an earlier one, or could
// be one without its being seen.
func (s *Stream) spelled(column string, id *table.ID, unit int, at place) error {
	s.spellings.joined = s.joinedUnits()
	before, clash := s.spellings.add(s.people(), id, unit, at)
	if !s.spellings.isPlain(id) && unseen(id.Text) {
		return s.noteAt(at, s.faultAt(at, column, "holds a character that cannot be seen", "write ids without control, zero-width and soft-hyphen characters and byte order marks", trajectory.ErrValue))
	}
	if !clash {
		return nil
	}
	if s.faults.count(at, column, "is another spelling of an earlier id") {
		s.faults.keep(at, s.faultAt(at, column, fmt.Sprintf("is another spelling of the id in row %s of %s, and would count as another unit", rowWords(before.row), s.files[before.file]),
			"write every id in one way: no spaces or quotes around it, ASCII digits and hyphens and, in numbers, no plus sign, leading zeros, decimal point, exponent, thousands or 0x", trajectory.ErrValue))
	}
	return s.ended()
}
