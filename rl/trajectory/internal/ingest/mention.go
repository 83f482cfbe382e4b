package ingest

import (
	"errors"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// Mention is an id that a stream has met: of an episode, in its first row, or of a person,
// where the one before it is another.
type Mention struct {
	Person    bool
	File, Row int
	// ID holds until the next mention. Plain is its plain spelling: ids of which one is
	// another spelling of the other have the same.
	ID, Plain []byte
}

// Facts are what is true of all data of a stream, and what it has counted.
type Facts struct {
	// Rows is the number of rows, of all kinds.
	Rows int64
	// ByEpisode tells that persons are named as their episodes, Nameless that they have
	// no names.
	ByEpisode, Nameless bool
}

// Facts returns them, once the stream has been read to its end.
func (s *Stream) Facts() Facts {
	f := Facts{Rows: s.rows}
	if s.first != nil && !s.first.hasKey[keyUnit] {
		f.ByEpisode, f.Nameless = !s.o.OneRowEpisodes, s.o.OneRowEpisodes
	}
	return f
}

// Told reads the stream to its end, and gives the episodes, with the ids of their person
// and of themselves, and what a [Register] is to check in place of the stream: so its
// memory does not grow with the names of persons and episodes. Whose an episode is, its
// Person, is then not told. What is wrong with the data ends nothing here, and
// [Stream.Verdict] says what it is.
func (s *Stream) Told(episode func(person, id []byte, e *trajectory.Episode) error, mention func(Mention) error) error {
	defer s.Close()
	s.hear = mention
	s.episodes.last, s.persons.last = true, true
	for {
		e, err := s.Next()
		var columns *trajectory.FaultsError
		var input *trajectory.InputError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), s.faults.total > 0 && (errors.As(err, &columns) || errors.As(err, &input)):
			return nil
		default:
			return err
		}
		var id []byte
		if e.Number >= 0 {
			id = s.episodes.at(0)
		}
		person := id
		if s.bound.hasKey[keyUnit] {
			person = s.persons.at(0)
		}
		if err := episode(person, id, e); err != nil {
			return err
		}
	}
}

func (s *Stream) mention(person bool, id []byte, at place) error {
	m := Mention{Person: person, File: at.file, Row: at.row, ID: id, Plain: id}
	if !isPlain(id) {
		m.Plain = plainID(id)
	}
	return s.hear(m)
}

// Register checks the ids that streams have mentioned: of persons and episodes whose
// plain spellings are in one class, of whatever kind the classes are, and in the order of
// files and rows.
type Register struct{ s *Stream }

// NewRegister makes an empty one for files that were read with these options.
func NewRegister(files []string, o trajectory.Options, f Facts) *Register {
	s := &Stream{files: files, o: o, episodes: newNames(), persons: newNames(), spellings: newSpellings(), faults: newFaults(o.Faults)}
	s.first = &binding{}
	s.first.hasKey[keyUnit] = !f.ByEpisode
	return &Register{s}
}

// Check takes the next mention and notes what is wrong with it.
func (r *Register) Check(m Mention) {
	s, at := r.s, place{m.File, m.Row, ofEpisode}
	if m.Person {
		at.part = ofPerson
		if unit, fresh := s.persons.add(m.ID); fresh {
			_ = s.spelled(canon.Unit, unit, at) // noted
		}
		return
	}
	number, fresh := s.episodes.add(m.ID)
	_ = s.numbered(number, fresh, at) // noted
}

// Faults is the number of faults that were noted.
func (r *Register) Faults() int { return r.s.faults.total }

// Faults is the number of faults that were noted.
func (s *Stream) Faults() int { return s.faults.total }

// Hear takes over what a register has noted.
func (s *Stream) Hear(r *Register) { s.faults.take(r.s.faults) }

// Verdict is all that is wrong with the data of a stream that was read to its end.
func (s *Stream) Verdict() error { return s.faults.err() }

// Options are those of the stream.
func (s *Stream) Options() trajectory.Options { return s.o }
