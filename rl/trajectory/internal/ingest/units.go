package ingest

import (
	"bytes"
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// Persons is the number of persons met so far.
func (s *Stream) Persons() int {
	n := s.people().len() + s.unnamed
	if _, ok := s.people().find(nil); ok { // whose id is missing
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
func (s *Stream) named(id []byte) error {
	number, fresh := s.episodes.add(id)
	s.ep.Number = number
	at := place{s.index, s.batch.Row[s.at], ofEpisode}
	if s.hear != nil {
		return s.mention(false, id, at)
	}
	return s.numbered(number, fresh, at)
}

// numbered checks the id of a new episode.
func (s *Stream) numbered(number int, fresh bool, at place) error {
	switch {
	case !fresh && s.o.Steps.Sort:
		return s.apart(at)
	case !fresh:
		return s.noteAt(at, s.faultAt(at, s.naming(), "an earlier episode has this id", s.remedyOrder(), trajectory.ErrEpisode))
	case s.people() == s.episodes:
		return s.spelled(s.naming(), number, at)
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
		return "with data.episode_per_person the rows of a person stand together in one file: sort the rows by person and step (data.steps: {sort: true} does it); if a person has several episodes, map episode_id instead"
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
		if err := s.owner(runs.Key(i), row, !s.state.begun && row == s.at); err != nil {
			return err
		}
	}
	return nil
}

// owner takes the unit of a row on: the first row of an episode decides whose it
// is.
func (s *Stream) owner(unit []byte, row int, first bool) error {
	switch {
	case !first && bytes.Equal(unit, s.persons.at(s.ep.Person)):
		return nil
	case s.bound.faultyID(s.batch, row, canon.Unit):
	case len(unit) == 0 && first && s.o.EpisodePerPerson: // told of the same column
	case len(unit) == 0 && !first:
		return s.missing(row, row+1, canon.Unit, "give every row the id of its person")
	case !first:
		if err := s.note(s.fault(row, canon.Unit, "changes within an episode", "give all rows of an episode to one person", trajectory.ErrEpisode)); err != nil {
			return err
		}
	case len(unit) == 0:
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
		return s.spelled(canon.Unit, s.ep.Person, at)
	}
	return nil
}

// spelled refuses a new unit whose id is another spelling of an earlier one, or could
// be one without its being seen.
func (s *Stream) spelled(column string, unit int, at place) error {
	names := s.people()
	s.spellings.joined = s.joinedUnits()
	before, clash := s.spellings.add(names, unit, at)
	if id := names.at(unit); !s.spellings.isPlain(id) && unseen(id) {
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
