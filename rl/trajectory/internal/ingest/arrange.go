package ingest

import (
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
	stream *Stream
	sorter *sorter.Sorter
	sorted *sorter.Sorted
	bound  []*binding // of each file
	ends   error      // after the rows of the person at hand
	ahead  row        // the first of the next person
	person group
	next   int   // row of the person
	files  []int // of each row of the batch
	faults rowFaults
	record []byte
	key    []byte
}

// arrange reads all files to their ends and puts their rows in order.
func (s *Stream) arrange() error {
	a := &arranged{stream: s, sorter: sorter.New(), bound: make([]*binding, len(s.files))}
	s.arranged = a
	for s.index+1 < s.end {
		if err := s.openNext(); err != nil {
			return err
		}
		a.bound[s.index] = s.bound
		for {
			err := s.fill()
			lacked := s.batch.Lacked()
			for i := range s.batch.Rows {
				a.put(i, lacked[i])
			}
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
	s := a.stream
	if a.sorted, err = a.sorter.Sorted(); err != nil {
		return err
	}
	if a.ends = a.read(); a.ends != nil {
		return a.ends
	}
	how := "rows were put in order by person, episode and step"
	if s.o.Restart {
		how = "rows were put together by person"
	}
	switch {
	case a.sorter.NoRoom() != nil:
		s.notice(how + ", all in memory: " + a.sorter.NoRoom().Error())
	case a.sorter.Dir() != "":
		s.notice(how + ", in temporary files without names in " + a.sorter.Dir() + ", which are gone at the end")
	default:
		s.notice(how + ", in memory")
	}
	width := s.bound.width
	width[blkCoded] = 0 // words are numbers by now
	s.table, s.batch, s.at = a, table.NewBatch(width[:], keys), 0
	a.files = make([]int, s.batch.Cap)
	return nil
}

// put adds a row of the stream's batch. Rows of one step, which cannot be used, are in the
// order of what they hold, wherever they stand.
func (a *arranged) put(i int, lacks []string) {
	s := a.stream
	b := s.batch
	episode, person := b.Keys[keyEpisode].At(i), []byte(nil)
	if s.bound.hasKey[keyUnit] {
		person = b.Keys[keyUnit].At(i)
	}
	step := table.Null()
	if s.bound.has(blkStep) {
		step = b.Blocks[blkStep].Values[i]
	}
	a.key = appendID(appendID(a.key[:0], person), episode)
	if s.o.Restart { // in the order of the files
		a.key = binary.BigEndian.AppendUint64(a.key, uint64(s.index)<<rowBits|uint64(b.Row[i]))
	} else {
		a.key = binary.BigEndian.AppendUint64(a.key, rank(step))
	}
	a.record = a.record[:0]
	for block := range b.Blocks {
		if block == blkCoded {
			continue
		}
		for _, v := range s.values(block, i, i+1) {
			a.record = binary.LittleEndian.AppendUint64(a.record, math.Float64bits(v))
		}
	}
	a.record = a.faults.append(a.record, b, i, lacks)
	a.record = binary.AppendUvarint(binary.AppendUvarint(a.record, uint64(s.index)), uint64(b.Row[i]))
	a.sorter.Put(a.key, a.record)
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

// read reads the next row.
func (a *arranged) read() error {
	key, record, err := a.sorted.Next()
	if err == nil {
		a.ahead = row{key, record}
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
		a.give(b, a.person.row(a.next))
		a.next++
	}
	return nil
}

// nextPerson reads the rows of the next person.
func (a *arranged) nextPerson() error {
	a.next = 0
	a.person.reset()
	if a.ends != nil {
		return a.ends
	}
	of := a.ahead.owner(a.stream.bound.hasKey[keyUnit])
	a.person.begin(of)
	for a.ends == nil && a.person.owns(a.ahead) {
		a.person.add(a.ahead)
		a.ends = a.read()
	}
	if a.ends != nil && !errors.Is(a.ends, io.EOF) {
		return a.ends
	}
	a.person.arrange(a.stream.o.Steps)
	if a.stream.o.Cuts() {
		a.person.cut(&a.stream.o)
	}
	return nil
}

// give adds a row to a batch.
func (a *arranged) give(b *table.Batch, r row) {
	i := b.Rows
	person, episode, _ := r.ids()
	if len(a.person.numbers) > 0 && len(episode) > 0 {
		a.key = strconv.AppendInt(append(append(a.key[:0], episode...), '/'), int64(a.person.numbers[a.next]), 10)
		episode = a.key
	}
	b.Keys[keyEpisode].Append(episode, 1)
	b.Keys[keyUnit].Append(person, 1)
	left := r.record
	for k := range b.Blocks {
		block := &b.Blocks[k]
		for j := range block.Width {
			block.Values[i*block.Width+j] = math.Float64frombits(binary.LittleEndian.Uint64(left))
			left = left[8:]
		}
	}
	left = a.faults.give(b, left)
	file, n := binary.Uvarint(left)
	number, _ := binary.Uvarint(left[n:])
	a.files[i], b.Row[i] = int(file), int(number)
	b.Rows++
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
func (a *arranged) Close() error { return a.sorter.Close() }

// remedyApart says what to do about an episode of two persons.
const remedyApart = "give episodes of different persons different ids: with data.steps.sort all rows of an id are one episode"

// apart refuses an episode whose rows are of two persons.
func (s *Stream) apart(at place) error {
	return s.noteAt(at, s.faultAt(at, s.naming(), "an episode of another person has this id", remedyApart, trajectory.ErrEpisode))
}
