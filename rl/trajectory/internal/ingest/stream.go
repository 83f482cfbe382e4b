package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/table"
)

// Stream reads episodes from files, one after another, and checks everything
// that the canonical schema asks for. It holds one batch of rows and one
// episode, and the names of the persons and episodes seen.
//
// An episode lies in one file, and its rows are neighbours there. Its slices
// are reused by the next call of Next.
type Stream struct {
	ctx    context.Context
	format table.Format
	files  []string
	o      trajectory.Options

	index int // of the open file
	table table.Table
	bound *binding
	batch *table.Batch
	at    int       // next row of the batch
	run   [keys]int // the run that holds row at

	episodes, persons *names
	spellings         *spellings // of the ids of units
	unnamed           int        // persons who are rows, in files without persons
	tally             []tally
	unused            trajectory.Unused
	repaired          trajectory.Repaired
	nameless          bool     // the last row has no id of an episode
	met               int      // episodes, those left out included
	violations        *faults  // for which episodes were left out
	first             *binding // of the first file
	notices           []string
	rows, told        int64
	before            int64 // rows of the files before the open one
	size              int64
	faults            *faults
	whole             bool
	err               error

	ep    trajectory.Episode
	state episodeState
	buf   buffers
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
	if len(files) == 0 {
		return nil, &trajectory.InputError{What: "no file to read", Remedy: "name one", Kind: trajectory.ErrEmpty}
	}
	if len(files) > maxFiles {
		return nil, &trajectory.InputError{What: "more than 65536 files to read", Remedy: "join some of them", Kind: trajectory.ErrInput}
	}
	return &Stream{ctx: ctx, format: format, files: files, o: o, index: -1, episodes: newNames(), persons: newNames(), spellings: newSpellings(), faults: newFaults(o.Faults), violations: newFaults(mostFirst)}, nil
}

// Notices lists what the curator should know and what is no error: columns that
// are ignored, aliases that were taken, episodes that end without a flag. They
// hold no values. The list is complete once Next has returned io.EOF.
func (s *Stream) Notices() []string { return slices.Clone(s.notices) }

// Unused counts what the caps have left out so far. It is private, for the
// curator alone.
func (s *Stream) Unused() trajectory.Unused { return s.unused }

// Files lists the files that are read, in order.
func (s *Stream) Files() []string { return s.files }

// Whole tells whether all of the data has been read: faults of rows do not end
// reading where [trajectory.Options.Faults] says so, but a broken file does.
func (s *Stream) Whole() bool { return s.whole }

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

// Close releases the open file. Next does it as well when it returns an error,
// io.EOF included.
func (s *Stream) Close() error {
	if s.err == nil {
		s.err = os.ErrClosed
	}
	if s.table == nil {
		return nil
	}
	t := s.table
	s.table = nil
	return t.Close()
}

// Next gives the next episode that the caps on a person's contribution leave.
// After the last one it returns io.EOF. Errors wrap [ErrInput], or are those of
// the operating system or the context. After a fault there is no further episode.
func (s *Stream) Next() (*trajectory.Episode, error) {
	for s.err == nil {
		ok, err := s.assemble()
		if err == nil && ok && s.faults.total == 0 && s.cap() {
			return &s.ep, nil
		}
		if err != nil {
			closeErr := s.Close()
			s.whole = errors.Is(err, io.EOF)
			s.err = s.verdict(err)
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
			s.faults.add(place{s.index, 0}, e)
		}
	case errors.As(end, &input):
		s.faults.add(place{max(s.index, 0), input.Row}, input)
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
	s.faults.add(place{s.index, e.Row}, e)
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
	if s.episodes.len()+s.people().len()+s.unnamed >= maxNames {
		return 0, false, s.fault(s.at, "", "there are more than four billion episodes", "read the data in parts", trajectory.ErrInput)
	}
	if !s.o.OneRowEpisodes {
		runs, i := &s.batch.Keys[keyEpisode], s.advance(keyEpisode)
		hi = runs.End(i)
		id := runs.Key(i)
		switch {
		case len(id) == 0:
			// The rows are taken for a part of the episode at hand, if there is one.
			if err := s.missing(s.at, hi, s.naming(), "give every row the id of its "+s.whose()); err != nil {
				return 0, false, err
			}
			s.nameless, s.state.nameless = true, true
			if !s.state.begun {
				s.ep.Number, _ = s.episodes.add(id)
			}
		case !s.state.begun:
			if err := s.named(id); err != nil {
				return 0, false, err
			}
		case !bytes.Equal(s.episodes.at(s.ep.Number), id):
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
			}
			if at := (place{s.index, f.Err.Row}); into.count(at, f.Err.Column, f.Err.What) {
				e := f.Err // the batch is used again
				into.keep(at, &e)
			}
		}
	}
}

// named gives a new episode its number.
func (s *Stream) named(id []byte) error {
	number, fresh := s.episodes.add(id)
	s.ep.Number = number
	switch {
	case !fresh:
		return s.note(s.fault(s.at, s.naming(), "an earlier episode has this id", s.apart(), trajectory.ErrEpisode))
	case s.people() == s.episodes:
		return s.spelled(s.naming(), number, s.at)
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

// apart says what to do about an id that comes again after others.
func (s *Stream) apart() string {
	if s.o.EpisodePerPerson {
		return "with data.episode_per_person the rows of a person stand together in one file: sort the rows by person and step; if a person has several episodes, map episode_id instead"
	}
	return "sort the rows by episode and step, keep an episode in one file, and give episodes of different persons or files different ids"
}

// missing notes that the rows from lo to hi-1 lack a key.
func (s *Stream) missing(lo, hi int, column, remedy string) error {
	for row := lo; row < hi; row++ {
		if s.batch.Faulty(row, s.bound.source[column]) {
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
	case s.batch.Faulty(row, s.bound.source[canon.Unit]):
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
		return s.spelled(canon.Unit, s.ep.Person, row)
	}
	return nil
}

// spelled refuses a new unit whose id is another spelling of an earlier one, or could
// be one without its being seen.
func (s *Stream) spelled(column string, unit, row int) error {
	names := s.people()
	if unseen(names.at(unit)) {
		return s.note(s.fault(row, column, "holds a character that cannot be seen", "write ids without control, zero-width and soft-hyphen characters and byte order marks", trajectory.ErrValue))
	}
	before, clash := s.spellings.add(names, unit, place{s.index, s.batch.Row[row]})
	if !clash {
		return nil
	}
	at := place{s.index, s.batch.Row[row]}
	if s.faults.count(at, column, "is another spelling of an earlier id") {
		s.faults.keep(at, s.fault(row, column, fmt.Sprintf("is another spelling of the id in row %d of %s, and would count as another unit", before.row, s.files[before.file]),
			"write every id in one way: no spaces around it and, in numbers, no plus sign, leading zeros, decimal point or exponent", trajectory.ErrValue))
	}
	return s.ended()
}

// fill reads the next batch.
func (s *Stream) fill() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.batch.Reset()
	s.at, s.run = 0, [keys]int{}
	err := s.table.Read(s.batch)
	s.bound.translate(s.batch)
	s.rows += int64(s.batch.Rows)
	if s.rows-s.told >= 1<<16 {
		s.progress()
	}
	return err
}

func (s *Stream) progress() {
	s.told = s.rows
	if s.o.Progress != nil {
		s.o.Progress(trajectory.Progress{File: s.files[s.index], Index: s.index, Files: len(s.files),
			Bytes: s.table.Progress(), Size: s.size, Rows: s.rows})
	}
}

// open goes on to the next file, or returns io.EOF.
func (s *Stream) open() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.index+1 == len(s.files) {
		if s.rows == 0 {
			return &trajectory.InputError{File: s.files[s.index], What: "there is no row of data", Remedy: "check that this is the right file", Kind: trajectory.ErrEmpty}
		}
		s.tellRepairs()
		return io.EOF
	}
	s.index++
	path := s.files[s.index]
	t, err := s.format.Open(path)
	if err != nil {
		return err
	}
	s.table, s.size, s.before = t, 0, s.rows
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		s.size = info.Size()
	}
	b, err := bind(t, path, &s.o)
	if err != nil {
		return err
	}
	if err := s.sameAsFirst(b); err != nil {
		return err
	}
	if err := t.Select(b.picks); err != nil {
		return err
	}
	s.bound, s.at = b, 0
	s.batch = table.NewBatch(b.width[:], keys+len(b.words))
	for _, n := range b.notices {
		s.notice(n)
	}
	s.describe()
	return nil
}

// sameAsFirst checks that a file delivers what the first one did.
func (s *Stream) sameAsFirst(b *binding) error {
	if s.first == nil {
		s.first = b
		return nil
	}
	fail := func(what string) error {
		return &trajectory.InputError{File: b.file, What: what, Remedy: "give all files the same columns, or read them apart", Kind: trajectory.ErrColumn}
	}
	switch {
	case !slices.Equal(b.observations, s.first.observations):
		return fail("its observation columns differ from those of the files before it")
	case s.otherSource(b) != "":
		return fail(s.otherSource(b))
	case b.hasKey != s.first.hasKey:
		return fail("it lacks unit_id, or has it unlike the files before it")
	case s.differs(b) != "":
		return fail("it lacks the column " + s.differs(b) + ", or has it unlike the files before it")
	case b.width[blkProbs] != s.first.width[blkProbs]:
		return fail("its number of actions differs from that of the files before it")
	}
	return nil
}

// otherSource says which canonical column a file takes from another column than the
// first one did: they may hold different things.
func (s *Stream) otherSource(b *binding) string {
	for _, canonical := range sortedKeys(b.source) {
		if was, ok := s.first.source[canonical]; ok && was != b.source[canonical] {
			return canonical + " is its column " + b.source[canonical] + ", and was " + was + " in the files before it"
		}
	}
	return ""
}

// differs names a column that only one of a file and the first one has.
func (s *Stream) differs(b *binding) string {
	for block, name := range map[int]string{blkStep: canon.Step, blkAction: canon.Action, blkBehavior: canon.BehaviorProb, blkProbs: canon.ActionProbs, blkTarget: canon.TargetProb,
		blkTerminated: canon.Terminated, blkTruncated: canon.Truncated, blkNext: canon.PrefixNext + canon.Observation, blkDiscount: canon.Discount, blkPresence: canon.Action} {
		if b.has(block) != s.first.has(block) {
			return name
		}
	}
	return ""
}

func (s *Stream) endOfFile() error {
	s.progress()
	if s.rows == s.before {
		s.notice(s.files[s.index] + " has no rows")
	}
	t := s.table
	s.table = nil
	return t.Close()
}

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

// fault is an error about a row of the batch.
func (s *Stream) fault(row int, column, what, remedy string, kind error) *trajectory.InputError {
	return &trajectory.InputError{File: s.files[s.index], Row: s.batch.Row[row], Column: column, What: what, Remedy: remedy, Kind: kind}
}
