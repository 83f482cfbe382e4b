package ingest

import (
	"errors"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
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

// Facts are what a stream has found in its files, apart from episodes and names.
type Facts struct {
	// ByEpisode tells that persons are named as their episodes, Nameless that they have
	// no names.
	ByEpisode, Nameless bool

	Rows                       int64
	Clipped, Replaced, Rewards int            // rewards and observations that were changed, of so many rewards
	Empty                      int            // rewards that are 0 because they are empty
	ReplacedBy                 map[string]int `json:",omitempty"` // observations that were, by their names
	Absent                     int            `json:",omitempty"` // outcomes of ids without a row
	Notices                    []string
	Faults                     Faults
}

// Faults are faults apart from the stream that found them: the first of them, and how many
// there are of each kind.
type Faults struct {
	First []Fault
	Kinds []trajectory.FaultKind
	Total int
}

// Fault is a fault and its place.
type Fault struct {
	Index, Row, Part           int
	File, Column, What, Remedy string
}

// Facts returns what was found, once the stream has been read to its end.
func (s *Stream) Facts() Facts {
	f := Facts{Rows: s.rows, Clipped: s.repaired.Rewards, Replaced: s.repaired.Observations, Rewards: s.rewards, Empty: s.repaired.Empty, Absent: s.repaired.Absent, ReplacedBy: s.replaced, Notices: s.notices, Faults: s.faults.export()}
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
	s.episodes.last, s.persons.last, s.episodes.of = true, true, nil
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

func (s *Stream) mention(person bool, id *table.ID, at place) error {
	text := id.Append(nil)
	m := Mention{Person: person, File: at.file, Row: at.row, ID: text, Plain: text}
	plain := spellings{joined: s.joinedIDs(person)}
	if !plain.isPlain(id) {
		m.Plain = plain.plainID(text)
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
	s, at, id := r.s, place{m.File, m.Row, ofEpisode}, table.IDOf(m.ID)
	if m.Person {
		at.part = ofPerson
		if unit, fresh := s.persons.add(&id); fresh {
			_ = s.spelled(canon.Unit, &id, unit, at) // noted
		}
		return
	}
	number, fresh := s.episodes.add(&id)
	_ = s.numbered(&id, number, fresh, at) // noted
}

// Faults is the number of faults that were noted.
func (r *Register) Faults() int { return r.s.faults.total }

// Faults is the number of faults that were noted.
func (s *Stream) Faults() int { return s.faults.total }

// Hear takes over what a register has noted.
func (s *Stream) Hear(r *Register) { s.faults.take(r.s.faults) }

// Verdict is all that is wrong with the data of a stream that was read to its end.
func (s *Stream) Verdict() error { return s.faults.err() }

// Format is the name of the format.
func (s *Stream) Format() string { return s.format.Name }

// Options are those of the stream.
func (s *Stream) Options() trajectory.Options { return s.o }

// Only has the stream read one of its files. What has to agree with the first file is held
// against it; what is wrong with that one is for its own reader to say.
func (s *Stream) Only(file int) error {
	s.alone = true
	if file > 0 {
		if _, err := s.bindNext(); err != nil {
			s.first = nil
		}
		if t := s.table; t != nil {
			s.table = nil
			if err := t.Close(); err != nil {
				return err
			}
		}
	}
	s.index, s.end, s.faults = file-1, file+1, newFaults(s.o.Faults)
	return nil
}

// Gather takes over what streams have found that read one file each, in the order of the
// files, as if this one had read them. Names are heard of as well ([Stream.Hear]).
func (s *Stream) Gather(found ...Facts) {
	for _, f := range found {
		s.rows += f.Rows
		s.rewards += f.Rewards
		s.repaired.Rewards += f.Clipped
		s.repaired.Observations += f.Replaced
		addAll(s.replaced, f.ReplacedBy)
		s.repaired.Empty += f.Empty
		s.repaired.Absent += f.Absent
		for _, n := range f.Notices {
			s.notice(n)
		}
		s.faults.take(f.Faults.put(s.o.Faults))
	}
	if last := len(s.files) - 1; s.rows == 0 && s.faults.total == 0 {
		s.faults.add(place{file: last}, s.empty(last))
		return
	}
	s.tellRepairs()
}

// Note takes over the faults of names that were heard of elsewhere.
func (s *Stream) Note(found Facts) { s.faults.take(found.Faults.put(s.o.Faults)) }

// export gives faults in a form for others.
func (f *faults) export() Faults {
	out := Faults{Kinds: f.kinds, Total: f.total}
	for i, e := range f.kept {
		at := f.at[i]
		out.First = append(out.First, Fault{Index: at.file, Row: at.row, Part: at.part, File: e.File, Column: e.Column, What: e.What, Remedy: e.Remedy})
	}
	return out
}

// put makes faults of such a form.
func (o Faults) put(most int) *faults {
	f := newFaults(most)
	for _, k := range o.Kinds {
		f.kinds[f.kind(trajectory.FaultKind{Column: k.Column, What: k.What})].Faults += k.Faults
	}
	f.total = o.Total
	for _, e := range o.First {
		f.keep(place{e.Index, e.Row, e.Part}, &trajectory.InputError{File: e.File, Row: e.Row, Column: e.Column, What: e.What, Remedy: e.Remedy})
	}
	return f
}
