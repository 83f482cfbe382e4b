package ingest

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Stream reads episodes from files, one after another, and checks everything
// that the canonical schema asks for. It holds one batch of rows and one
// episode, and the names of the persons and episodes seen.
//
// An episode lies in one file, and its rows are neighbours there, unless rows are put in
// order ([trajectory.Options.Arranges]): then all of them are read before the first episode,
// and those of one person are held; or persons of one file who come in the order of their ids are read as they come, by parts. Its slices are reused by the next call of Next.
type Stream struct {
	ctx    context.Context
	format table.Format
	files  []string
	o      trajectory.Options

	cursor
	end   int          // one more than the index of the last file to be read
	alone bool         // other streams read the other files
	sound [blocks]bool // the batch needs no further look at these columns
	clean bool         // nor at anything but ids, steps and where flags stand

	episodes, persons *names
	spellings         *spellings // of the ids of units
	unnamed           int        // persons who are rows, in files without persons
	tally             tallies
	unused            trajectory.Unused
	repaired          trajectory.Repaired
	replaced          map[string]int // observations, by their names
	seconds           int            // further rows of persons of whom one counts
	firstSecond       place          // of those
	nameless          bool           // the last row has no id of an episode
	met               int            // episodes, those left out included
	rewards           int            // of the episodes that are not left out, before caps
	violations        *faults        // for which episodes were left out
	first             *binding       // of the first file
	notices           []string
	rows, told        int64
	lines             int
	before            int64 // rows of the files before the open one
	size              int64
	opened            os.FileInfo // the open file before it was opened; nil where it is not regular
	faults            *faults
	whole             bool
	err               error

	parts    parts
	arranged *arranged // rows that are put in order, else nil
	window   *window   // what is read of a file that several streams read, else nil
	joins    joinState
	others   []other             // files after the first one that streams read stretches of
	hear     func(Mention) error // of ids, which it checks in place of the stream; else nil

	beside   table.Format // of outcomes in files of their own, besides
	besides  []string
	outcomes *outcomes
	joined   []uint64 // which of them, a bit each

	// lastViolation is what was wrong last with an episode that is left out.
	lastViolation trajectory.FaultKind

	ep    trajectory.Episode
	state episodeState
	buf   buffers
}

// cursor is how far the rows of a table were taken.
type cursor struct {
	index int // of the open file
	table table.Table
	bound *binding
	batch *table.Batch
	at    int       // next row of the batch
	run   [keys]int // the run that holds row at
}

// maxNames bounds the persons and episodes of a stream.
const maxNames = 1<<32 - 2

// maxFiles bounds the files of a stream.
const maxFiles = 1 << 16

// NewStream prepares to read files of one format, in the order given. Opening
// and reading start with the first call of Next.
func NewStream(ctx context.Context, format table.Format, files []string, o trajectory.Options) (*Stream, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.EpisodePerPerson = o.EpisodePerPerson || o.Cuts() // until its rows are cut
	if len(files) == 0 {
		return nil, &trajectory.InputError{What: "no file to read", Remedy: "name one", Kind: trajectory.ErrEmpty}
	}
	if len(files) > maxFiles {
		return nil, &trajectory.InputError{What: "more than 65536 files to read", Remedy: "join some of them", Kind: trajectory.ErrInput}
	}
	return &Stream{ctx: ctx, format: format, files: files, o: o, cursor: cursor{index: -1}, end: len(files), episodes: newNames(), persons: newNames(), spellings: newSpellings(), faults: newFaults(o.Faults), violations: newFaults(mostFirst), replaced: map[string]int{}}, nil
}

// Notices lists what the curator should know and what is no error: columns that
// are ignored, aliases that were taken, episodes that end without a flag. They
// hold no values. The list is complete once Next has returned io.EOF.
func (s *Stream) Notices() []string { return slices.Clone(s.notices) }

// Unused counts what the caps have left out so far. It is private, for the
// curator alone.
func (s *Stream) Unused() trajectory.Unused { return s.unused }

// Rows is the number of rows read so far.
func (s *Stream) Rows() int { return int(s.rows) }

// Lines is the number of lines of the text files that were read to their ends; 0 where
// their format does not count them.
func (s *Stream) Lines() int { return s.lines }

// Files lists the files that are read, in order.
func (s *Stream) Files() []string { return s.files }

// Whole tells whether all of the data has been read: faults of rows do not end
// reading where [trajectory.Options.Faults] says so, but a broken file does.
func (s *Stream) Whole() bool { return s.whole }

// Close releases the open file. Next does it as well when it returns an error,
// io.EOF included.
func (s *Stream) Close() error {
	if s.err == nil {
		s.err = os.ErrClosed
	}
	var err error
	if t := s.table; t != nil {
		s.table = nil
		err = t.Close()
	}
	for _, o := range s.others {
		err = errors.Join(err, o.table.Close())
	}
	s.others = nil
	if s.arranged != nil {
		err = errors.Join(err, s.arranged.Close())
	}
	return err
}

// Next gives the next episode that the caps on a person's contribution leave.
// After the last one it returns io.EOF. Errors wrap [ErrInput], or are those of
// the operating system or the context. After a fault there is no further episode.
func (s *Stream) Next() (*trajectory.Episode, error) {
	if s.err == nil && s.faults.total == 0 && s.single() {
		return &s.ep, nil
	}
	for s.err == nil {
		ok, err := s.assemble()
		if err == nil && ok && s.faults.total == 0 && s.comesAgain(s.ep.Person) {
			err = errApart
		} else if err == nil && ok && s.faults.total == 0 {
			kept := s.cap()
			if err = s.ended(); kept && s.faults.total == 0 {
				return &s.ep, nil
			}
		}
		if err != nil {
			closeErr := s.Close()
			s.whole = errors.Is(err, io.EOF)
			s.err = s.verdict(source.Told(err))
			if errors.Is(s.err, io.EOF) && closeErr != nil {
				s.err = closeErr
			}
		}
	}
	return nil, s.err
}

// verdict is what reading ends with: what ended it, together with the faults that
// were found before.
func (s *Stream) verdict(end error) error {
	var columns *trajectory.FaultsError
	var input *trajectory.InputError
	switch {
	case errors.Is(end, io.EOF), errors.Is(end, errFaults):
	case errors.As(end, &columns):
		for _, e := range columns.First {
			s.faults.add(place{file: s.index}, e)
		}
	case errors.As(end, &input):
		if s.faults.total > 0 && input.Row > 0 { // they are counted, and those after it are not known
			broken := *input
			broken.What += ", and nothing after it was read"
			input = &broken
		}
		s.faults.add(place{file: max(s.index, 0), row: rowOf(input)}, input)
	default: // the disk failed, or the caller gave up
		return end
	}
	if err := s.faults.err(); err != nil {
		return err
	}
	return end
}

// errFaults ends reading where faults have been noted.
var errFaults = errors.New("faults have been noted")

// note records a fault, and ends reading if the first one is to.
func (s *Stream) note(e *trajectory.InputError) error {
	return s.noteAt(place{file: s.index, row: rowOf(e)}, e)
}

func (s *Stream) noteAt(at place, e *trajectory.InputError) error {
	s.faults.add(at, e)
	return s.ended()
}

// ended tells that a fault was noted and reading is to end at the first.
func (s *Stream) ended() error {
	if s.o.Faults == 0 && s.faults.total > 0 {
		return errFaults
	}
	return nil
}

// assemble puts the rows of the next episode into s.ep. It reports false where
// a file ended and there was none.
func (s *Stream) assemble() (bool, error) {
	s.begin()
	for {
		if s.table == nil {
			if err := s.open(); err != nil {
				return false, err
			}
		}
		if s.at == s.batch.Rows {
			err := s.fill()
			if err == io.EOF {
				if err := s.endOfFile(); err != nil {
					return false, err
				}
				return s.state.begun, s.finish()
			}
			if err != nil {
				return false, err
			}
		}
		hi, same, err := s.segment()
		if err != nil {
			return false, err
		}
		if !same {
			return true, s.finish()
		}
		s.state.begun = true
		if err := s.take(s.at, hi); err != nil {
			return false, err
		}
		s.at = hi
		if s.o.OneRowEpisodes {
			return true, s.finish()
		}
	}
}

// segment finds how far the rows from s.at on belong to one episode. It reports
// false where they are not of the episode at hand.
func (s *Stream) segment() (hi int, same bool, err error) {
	hi = s.at + 1
	if s.arranged != nil {
		s.arranged.enter(s.at)
	}
	if s.episodes.len()+s.people().len()+s.unnamed >= maxNames {
		return 0, false, s.fault(s.at, "", "there are more than four billion episodes", "read the data in parts", trajectory.ErrInput)
	}
	if !s.o.OneRowEpisodes {
		runs, i := &s.batch.Keys[keyEpisode], s.advance(keyEpisode)
		hi = min(runs.End(i), s.batch.Rows) // the end of a window may divide a run
		if s.arranged != nil {
			hi = s.arranged.within(s.at, hi)
		}
		id := runs.ID(i)
		switch {
		case id.Missing():
			// The rows are taken for a part of the episode at hand, if there is one.
			if err := s.missing(s.at, hi, s.naming(), "give every row the id of its "+s.whose()); err != nil {
				return 0, false, err
			}
			s.nameless, s.state.nameless = true, true
			if !s.state.begun {
				s.ep.Number, _ = s.episodes.add(&id)
			}
		case !s.state.begun:
			if err := s.named(&id); err != nil {
				return 0, false, err
			}
		case !s.episodes.is(s.ep.Number, &id):
			return 0, false, nil
		default:
			s.nameless = false
		}
	}
	s.unread(hi)
	return hi, true, s.person(hi)
}

// unread notes the values of the rows from s.at to hi-1 that the format could not
// read.
func (s *Stream) unread(hi int) {
	for row := s.at; row < hi && len(s.batch.Faults) > 0; row++ {
		for _, f := range s.batch.FaultsOf(row) {
			into := s.faults
			if s.repairs() && !f.Form {
				into = s.leaveOut()
				s.spoil(row, f.Err.Column)
			}
			s.lastViolation = trajectory.FaultKind{Column: f.Err.Column, What: f.Err.What}
			if at := (place{file: s.index, row: rowOf(&f.Err)}); into.count(at, f.Err.Column, f.Err.What) {
				e := f.Err // the batch is used again
				into.keep(at, &e)
			}
		}
	}
}

// Notice adds to [Stream.Notices].
func (s *Stream) Notice(text string) { s.notice(text) }

func (s *Stream) notice(text string) {
	if !slices.Contains(s.notices, text) {
		s.notices = append(s.notices, text)
	}
}

// isMissing says of a value that it is missing, and what counts as such.
func (s *Stream) isMissing() string {
	if len(s.o.NA) > 0 {
		return "is missing (empty, or a marker of data.na)"
	}
	return "is missing"
}

// place is where a row of the batch is.
func (s *Stream) place(row int) place { return place{file: s.index, row: s.batch.Row[row]} }

// fault is an error about a row of the batch.
func (s *Stream) fault(row int, column, what, remedy string, kind error) *trajectory.InputError {
	return s.faultAt(s.place(row), column, what, remedy, kind)
}

func (s *Stream) faultAt(at place, column, what, remedy string, kind error) *trajectory.InputError {
	return &trajectory.InputError{File: s.files[at.file], Row: at.row, Column: column, What: what, Remedy: remedy, Kind: kind}
}
