package file

import (
	"errors"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
)

// Stream reads episodes from files, one after another, and checks everything
// that the canonical schema asks for. It holds one batch of rows and one
// episode, and the names of the persons and episodes seen.
//
// An episode lies in one file, and its rows are neighbours there, unless rows are put in
// order ([trajectory.Options.Arranges]): then all of them are read before the first episode,
// and those of one person are held; or persons of one file who come in the order of their ids are read as they come, by parts. Its slices are reused by the next call of Next.
type Stream struct {
	in   *ingest.Stream
	kept *grouping // nil unless Together was called

	part, ofParts int // of the file of [OpenOne]
}

// Next gives the next episode that the caps on a person's contribution leave.
// After the last one it returns io.EOF. Errors wrap [trajectory.ErrInput], or are
// those of the operating system or the context.
func (s *Stream) Next() (*trajectory.Episode, error) { return s.in.Next() }

// Part reads the next persons into d, in place of what it held: whole persons with all
// of their episodes, some thousands of rows at a time, so that memory does not grow with
// rows. Names of persons and episodes are left out. After the last one it returns
// io.EOF. Where a person comes again after others it fails, and [Stream.Apart] tells so;
// the data can then be opened anew, and read by [Stream.Together] first. So it is of one file whose rows are put in
// order, where persons do not come in the order of their ids, or anything else is wrong.
// Part and Next are not to be mixed. After [Stream.Together] persons are in no order.
func (s *Stream) Part(d *trajectory.Dataset) error {
	if s.kept != nil {
		return s.kept.part(d)
	}
	return s.in.Part(d)
}

// Apart tells that Part failed because the episodes of a person do not stand together.
func (s *Stream) Apart() bool { return s.in.Apart() }

// Cut divides the reading by parts among streams, each of which another worker may read
// to its end: [Stream.Part] of each gives the persons who begin in its stretch of the
// file, and it is then given to [Stream.Join], in order. It is nil where one worker has to
// read all, as of several files, of a compressed one, and where something is wrong with
// the columns: s is then closed, and the data opened anew.
func (s *Stream) Cut(workers int) []*Stream {
	var out []*Stream
	for _, x := range s.in.Cut(workers) {
		out = append(out, &Stream{in: x})
	}
	return out
}

// Join takes over what the next of the streams of Cut has found. It reports false where
// the data are to be read anew by one stream, which says whether anything is wrong, and
// what comes first: ids of persons and episodes that come again, faults, a caller who
// gives up.
func (s *Stream) Join(next *Stream) bool { return s.in.Join(next.in) }

// Joined ends the reading by the streams of Cut; it reports false as Join does.
func (s *Stream) Joined() bool { return s.in.Joined() }

// PersonIDs are the names of the persons met so far, nil where they have none. They are
// private.
func (s *Stream) PersonIDs() []string { return s.in.PersonIDs() }

// Owners reads whose rows the files hold, and nothing else of them: the plain spelling of the
// id of a person, which holds until the next call, and of how many rows in a row. Ids of which
// one is another spelling of the other have the same; it is empty where there is no id.
func (s *Stream) Owners(each func(plain []byte, rows int) error) error { return s.in.Owners(each) }

// Notices lists what the curator should know and what is no error: columns that
// are ignored, aliases that were taken, episodes that end without a flag. They
// hold no values. The list is complete once Next has returned io.EOF.
func (s *Stream) Notices() []string { return s.in.Notices() }

// Unused counts what the caps have left out so far. It is private, for the
// curator alone.
func (s *Stream) Unused() trajectory.Unused { return s.in.Unused() }

// Repaired counts what was changed or left out for a violation so far. It is
// private, for the curator alone.
func (s *Stream) Repaired() trajectory.Repaired { return s.in.Repaired() }

// Files lists the files that are read, in order.
func (s *Stream) Files() []string { return s.in.Files() }

// Persons is the number of persons met so far.
func (s *Stream) Persons() int { return s.in.Persons() }

// Close releases the open file. Next does it as well when it returns an error,
// io.EOF included. It removes what [Stream.Together] kept.
func (s *Stream) Close() error {
	if s.kept == nil {
		return s.in.Close()
	}
	return errors.Join(s.in.Close(), s.kept.rows.Close())
}
