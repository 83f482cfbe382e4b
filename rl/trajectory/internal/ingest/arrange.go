package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/sorter"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// arranged is the rows of all files, put in order before they are checked: persons by their
// ids, the episodes of each by their first step and then by their ids ([group.arrange]), rows by their steps.
// What is wrong with a row stays with it. It stands in the place of a table.
type arranged struct {
	table.Table
	stream  *Stream
	sorter  *sorter.Sorter
	sorted  *sorter.Sorted
	bound   []*binding // of each file
	ends    error      // after the rows of the person at hand
	ahead   stretch    // the first of the next person
	person  group
	next    int   // row of the person
	episode int   // of the person, in order
	files   []int // of each row of the batch
	faults  rowFaults
	record  []byte
	key     []byte
	listed  []int          // runs of episodes
	last    int            // of those, whose rows came last
	codes   []byte         // of each run, how many rows, and which of those
	known   []table.Bounds // of all rows that were read, by block
	rising  bool           // persons come in order, each in one place: their rows are taken from source
	source  cursor
	lacked  map[int][]string // of the batch of source
}

// arrange reads all files to their ends and puts their rows in order.
func (s *Stream) arrange() error {
	a := &arranged{stream: s, sorter: sorter.New(), bound: make([]*binding, len(s.files))}
	s.arranged = a
	if s.parts.begun && !s.parts.whole && s.end-s.index == 2 {
		return a.rise()
	}
	for s.index+1 < s.end {
		if err := s.openNext(); err != nil {
			return err
		}
		a.bound[s.index] = s.bound
		for {
			err := s.fill()
			a.take()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
		if err := s.endOfFile(); err != nil {
			return err
		}
	}
	if s.rows == 0 {
		return s.open() // which says so
	}
	return a.begin()
}

// begin delivers the rows to the stream.
func (a *arranged) begin() (err error) {
	if a.sorted, err = a.sorter.Sorted(); err != nil {
		return err
	}
	if a.ends = a.read(); a.ends != nil {
		return a.ends
	}
	switch {
	case a.sorter.NoRoom() != nil:
		a.deliver("all in memory: " + a.sorter.NoRoom().Error())
	case a.sorter.Dir() != "":
		a.deliver("in temporary files without names in " + a.sorter.Dir() + ", which are gone at the end")
	default:
		a.deliver("in memory")
	}
	return nil
}

// deliver has the stream read what is put in order somewhere.
func (a *arranged) deliver(where string) {
	s, how := a.stream, "rows were put in order by person, episode and step"
	if s.o.Restart {
		how = "rows were put together by person"
	}
	s.notice(how + ", " + where)
	width := s.bound.width
	width[blkCoded] = 0 // words are numbers by now
	s.table, s.batch, s.at = a, table.NewBatch(width[:], keys), 0
	a.files = make([]int, s.batch.Cap)
}

// learn notes what is known of further rows.
func (a *arranged) learn(b *table.Batch) {
	if b.Rows == 0 {
		return
	}
	for i, of := range b.Blocks {
		if i == len(a.known) {
			a.known = append(a.known, of.Known)
		}
		a.known[i] = a.known[i].With(of.Known)
	}
}

// take keeps the rows of the stream's batch, those of a person that follow each other in one
// record. Where persons have no ids, each episode is one.
func (a *arranged) take() {
	s := a.stream
	b, lacked := s.batch, s.batch.Lacked()
	for s.at < b.Rows {
		lo, hi := s.at, a.owned()
		a.record = a.appendPlaces(a.record[:0], lo, hi)
		a.record = a.appendEpisodes(a.record, hi)
		a.record = a.faults.append(a.record, b, lo, hi, lacked)
		for block := range b.Blocks {
			if block != blkCoded {
				a.record = table.AppendNumbers(a.record, s.values(block, lo, hi))
			}
		}
		a.sorter.Put(a.key, a.record)
	}
}

// owned finds up to where rows are of one person, and makes the key of the person.
func (a *arranged) owned() (hi int) {
	s, of := a.stream, keyUnit
	a.key = a.key[:0]
	if !s.bound.hasKey[keyUnit] {
		a.key, of = append(a.key, 0, 0), keyEpisode
	}
	runs, run := &s.batch.Keys[of], s.advance(of)
	a.key = appendID(a.key, runs.Key(run))
	return runs.End(run)
}

// appendPlaces appends how many rows there are, of which file, and their numbers: how far each is from the
// one that is due, and how many follow it one by one.
func (a *arranged) appendPlaces(dst []byte, lo, hi int) []byte {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(hi-lo)), uint64(a.stream.index))
	due, rows := 0, a.stream.batch.Row[lo:hi]
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n] == rows[0]+n {
			n++
		}
		dst = binary.AppendUvarint(binary.AppendVarint(dst, int64(rows[0]-due)), uint64(n))
		due, rows = rows[0]+n, rows[n:]
	}
	return dst
}

// mostOpen is how many episodes of a person may take turns so that each is listed once.
const mostOpen = 16

// appendEpisodes appends ids of episodes up to a row, and of each run which of them it has.
func (a *arranged) appendEpisodes(dst []byte, hi int) []byte {
	s := a.stream
	runs := &s.batch.Keys[keyEpisode]
	a.listed, a.last, a.codes = a.listed[:0], 0, a.codes[:0]
	for run := s.advance(keyEpisode); s.at < hi; run++ {
		a.list(runs, run)
		end := min(runs.End(run), hi)
		a.codes = binary.AppendUvarint(binary.AppendUvarint(a.codes, uint64(end-s.at)), uint64(a.last))
		s.at, s.run[keyEpisode] = end, run
	}
	dst = binary.AppendUvarint(dst, uint64(len(a.listed)))
	for _, run := range a.listed {
		id := runs.Key(run)
		dst = append(binary.AppendUvarint(dst, uint64(len(id))), id...)
	}
	return append(dst, a.codes...)
}

// list finds which of the listed episodes has the rows of a run.
func (a *arranged) list(runs *table.Runs, run int) {
	n := len(a.listed)
	open := min(n, mostOpen)
	for ; open > 0; open-- {
		if a.last++; a.last >= n {
			a.last = n - min(n, mostOpen)
		}
		if runs.Same(run, a.listed[a.last]) {
			break
		}
	}
	if open == 0 {
		a.last = n
		a.listed = append(a.listed, run)
	}
}

// appendID appends an id so that keys are in the order of their lengths, and those of one
// length byte by byte, as numbers are.
func appendID(dst, id []byte) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(id))), id...)
}

// rank gives numbers that are in the order of steps. What is no number comes last.
func rank(step float64) uint64 {
	if step != step {
		return math.MaxUint64
	}
	bits := math.Float64bits(step + 0) // -0 is 0
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

// read reads the next record.
func (a *arranged) read() error {
	key, record, err := a.sorted.Next()
	if err == nil {
		a.ahead = stretch{key, record}
	}
	return err
}

// Read implements [table.Table].
func (a *arranged) Read(b *table.Batch) error {
	for b.Rows < b.Cap {
		if a.next == len(a.person.order) {
			if err := a.nextPerson(); errors.Is(err, io.EOF) && b.Rows > 0 {
				break
			} else if err != nil {
				return err
			}
		}
		n := min(b.Cap-b.Rows, len(a.person.order)-a.next)
		a.give(b, a.next, a.next+n)
		a.next += n
	}
	return nil
}

// nextPerson reads the rows of the next person.
func (a *arranged) nextPerson() error {
	a.next, a.episode = 0, 0
	if a.ends != nil {
		a.person.order = a.person.order[:0]
		return a.ends
	}
	s := a.stream
	a.person.width, a.person.inFiles = &s.bound.width, s.o.Restart
	if err := a.gather(); err != nil {
		return err
	}
	a.person.arrange(s.o.Steps)
	if s.o.Cuts() {
		a.person.cut(&s.o)
	}
	return nil
}

// gather reads the records of the next person.
func (a *arranged) gather() error {
	if a.rising {
		return a.follow()
	}
	a.person.begin(a.ahead.key)
	for a.ends == nil && bytes.Equal(a.ahead.key, a.person.owner) {
		if err := a.person.add(a.ahead.record); err != nil {
			return err
		}
		a.ends = a.read()
	}
	if a.ends != nil && !errors.Is(a.ends, io.EOF) {
		return a.ends
	}
	return nil
}

// give adds rows of the person to a batch.
func (a *arranged) give(b *table.Batch, lo, hi int) {
	g := &a.person
	order, first := g.order[lo:hi], b.Rows
	person, _ := cutID(g.owner)
	b.Keys[keyUnit].Append(person, hi-lo)
	for i := 0; i < len(order); {
		for g.ends[a.episode] <= lo+i {
			a.episode++
		}
		n := min(g.ends[a.episode], hi) - lo - i
		id := &g.ids[g.idOf[order[i]]].ID
		if len(g.numbers) > 0 && !id.Missing() {
			a.key = strconv.AppendInt(append(id.Append(a.key[:0]), '/'), int64(g.numbers[lo+i]), 10)
			b.Keys[keyEpisode].Append(a.key, n)
		} else {
			b.Keys[keyEpisode].AppendID(id, n)
		}
		i += n
	}
	for k := range b.Blocks {
		to, from := &b.Blocks[k], g.values[k]
		to.Known = a.known[k]
		w := to.Width
		values := to.Values[first*w:]
		switch w {
		case 0:
			continue
		case 1:
			for i, at := range order {
				values[i] = from[at]
			}
		default:
			for i, at := range order {
				copy(values[i*w:(i+1)*w], from[at*w:])
			}
		}
	}
	for i, at := range order {
		place := g.places[at]
		a.files[first+i], b.Row[first+i] = fileOf(place), rowIn(place)
		if len(g.faults) > 0 {
			a.faults.give(b, g.fault(at))
		}
		b.Rows++
	}
}

// enter says which file a row of the batch is of.
func (a *arranged) enter(at int) {
	if file := a.files[at]; a.stream.index != file {
		a.stream.index, a.stream.bound = file, a.bound[file]
	}
}

// within is up to where rows are of one file.
func (a *arranged) within(at, hi int) int {
	for end := at + 1; end < hi; end++ {
		if a.files[end] != a.files[at] {
			return end
		}
	}
	return hi
}

// Progress implements [table.Table].
func (a *arranged) Progress() int64 { return a.stream.size }

// Close implements [table.Table].
func (a *arranged) Close() error {
	err := a.sorter.Close()
	if t := a.source.table; t != nil {
		a.source.table = nil
		err = errors.Join(err, t.Close())
	}
	return err
}

// remedyApart says what to do about an episode of two persons.
const remedyApart = "give episodes of different persons different ids: with data.steps.sort all rows of an id are one episode; and write a person's id in one way, in upper or lower case"

// apart refuses an episode whose rows are of two persons.
func (s *Stream) apart(at place) error {
	return s.noteAt(at, s.faultAt(at, s.naming(), "an episode of another person has this id", remedyApart, trajectory.ErrEpisode))
}
