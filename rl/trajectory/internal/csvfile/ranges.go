package csvfile

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// A range that is read ahead is given up where it turns out to be no plain text: its
// worker would need more memory than these bounds. It is then read when it is asked for.
const (
	rangeBytes  = 1 << 19 // of the file
	rangeBuffer = 1 << 20 // for one record
	rangeRows   = 1 << 16
	rangeFaults = 1 << 12
)

// errGivenUp ends a range that is read ahead.
var errGivenUp = errors.New("range cannot be read ahead")

// ranges reads a file in ranges of bytes, several at a time.
//
// A range holds the records that start in it. Where its first record starts is guessed:
// after the first line's end. In a field in quotes that guess is wrong, so that a range
// counts only if it starts where the one before it ended; else it is read again from
// there, and so is one in which reading failed. What is delivered is therefore what one
// reader finds from the first byte on, and so are the numbers of lines.
type ranges struct {
	*reader // of the header; it reads no records
	file    io.ReaderAt
	size    int64 // of the file
	first   int64 // where the first range starts
	step    int64 // bytes of a range
	count   int

	batch func() *table.Batch
	mutex sync.Mutex
	free  []*table.Batch

	todo    chan *piece
	flying  []*piece // handed to workers, in order
	next    int      // the range to hand out
	stop    atomic.Bool
	working sync.WaitGroup

	current *piece  // whose batches are delivered
	again   *reader // of the range at hand, where it is read again
	at      int64   // where the records to come start
	line    int     // the line of that place
}

// piece is a range and what was found in it.
type piece struct {
	number     int
	done       chan struct{}
	start, end int64 // of its records
	lines      int
	batches    []*table.Batch
	err        error
}

// Divide implements [table.Divisible], for files that are not compressed.
func (t *reader) Divide(workers int, batch func() *table.Batch) table.Table {
	return t.divide(workers, batch, rangeBytes)
}

func (t *reader) divide(workers int, batch func() *table.Batch, step int64) table.Table {
	file, size, ok := t.in.Plain()
	first := t.scan.at()
	if !ok || workers < 2 || size-first < 2*step {
		return nil
	}
	r := &ranges{reader: t, file: file, size: size, first: first, step: step, count: int((size - first + step - 1) / step),
		batch: batch, todo: make(chan *piece, workers+1), at: first, line: t.scan.line}
	for range workers {
		r.working.Go(r.work)
	}
	for range workers + 1 {
		r.hand()
	}
	return r
}

// hand gives the next range, if there is one, to the workers.
func (r *ranges) hand() {
	if r.next == r.count {
		return
	}
	p := &piece{number: r.next, done: make(chan struct{})}
	r.next++
	r.flying = append(r.flying, p)
	r.todo <- p // has room: no more ranges are on their way
}

// limit is the place from which on records are of the next range.
func (r *ranges) limit(number int) int64 {
	if number == r.count-1 {
		return toEnd
	}
	return r.first + int64(number+1)*r.step
}

func (r *ranges) work() {
	var buf []byte
	for p := range r.todo {
		if !r.stop.Load() {
			buf, p.err = r.scanRange(p, buf[:0])
		}
		close(p.done)
	}
}

// scanRange reads a range from where its first record seems to start, through buf or a
// larger buffer, which it returns.
func (r *ranges) scanRange(p *piece, buf []byte) ([]byte, error) {
	p.start = r.first
	if p.number > 0 {
		var err error
		if p.start, err = lineFrom(r.file, r.first+int64(p.number)*r.step, r.size, rangeBuffer); err != nil {
			return buf, err
		}
	}
	t := r.reader.from(r.file, p.start, r.size, 1)
	t.scan.data, t.scan.limit, t.scan.most = buf, r.limit(p.number), rangeBuffer
	err := r.fill(p, t)
	return t.scan.data[:0], err
}

// fill takes the records of a range from its reader.
func (r *ranges) fill(p *piece, t *reader) error {
	rows, faults := 0, 0
	for {
		b := r.take()
		err := t.Read(b)
		if err == nil {
			p.batches = append(p.batches, b)
			if rows, faults = rows+b.Rows, faults+len(b.Faults); rows > rangeRows || faults > rangeFaults || r.stop.Load() {
				return errGivenUp
			}
			continue
		}
		r.give(b)
		p.end, p.lines = t.scan.at(), t.scan.line-1
		if err == io.EOF {
			err = nil
		}
		return err
	}
}

// lineFrom is the start of the first line that starts at a place or after it, of at most about so many bytes.
func lineFrom(file io.ReaderAt, place, size, most int64) (int64, error) {
	var buf [1 << 12]byte
	for at := place - 1; at < size; {
		n, err := file.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		if at += int64(n); err != nil && at < size {
			return 0, err
		}
		if at-place > most {
			return 0, errGivenUp
		}
	}
	return size, nil
}

// from is a reader of the same columns whose next record starts at a place of the file.
func (t *reader) from(file io.ReaderAt, place, size int64, line int) *reader {
	c := *t
	c.scan = newScanner(io.NewSectionReader(file, place, max(size-place, 0)), t.scan.sep, t.scan.multiline, place, line)
	c.keys = slices.Clone(t.keys)
	for i := range c.keys {
		c.keys[i].text, c.keys[i].scratch = nil, nil
	}
	c.failed = nil
	return &c
}

// Read implements [table.Table].
func (r *ranges) Read(b *table.Batch) error {
	for {
		if t := r.again; t != nil {
			if err := t.Read(b); err != io.EOF {
				return err
			}
			r.again, r.at, r.line = nil, t.scan.at(), t.scan.line
		}
		if p := r.current; p != nil {
			if len(p.batches) > 0 {
				r.deliver(b, p)
				return nil
			}
			r.current, r.at, r.line = nil, p.end, r.line+p.lines
		}
		if len(r.flying) == 0 {
			return io.EOF
		}
		p := r.flying[0]
		<-p.done
		r.flying = r.flying[1:]
		r.hand()
		if p.err == nil && p.start == r.at {
			r.current = p
			continue
		}
		r.give(p.batches...)
		r.again = r.reader.from(r.file, r.at, r.size, r.line)
		r.again.scan.limit = r.limit(p.number)
	}
}

// deliver puts the next batch of a range in the place of b.
func (r *ranges) deliver(b *table.Batch, p *piece) {
	got := p.batches[0]
	p.batches = p.batches[1:]
	before := r.line - 1
	for i := range got.Row[:got.Rows] {
		got.Row[i] += before
	}
	for i := range got.Faults {
		got.Faults[i].Err.Row += before
	}
	*b, *got = *got, *b
	r.give(got)
}

// take gives an empty batch.
func (r *ranges) take() *table.Batch {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if n := len(r.free); n > 0 {
		b := r.free[n-1]
		r.free = r.free[:n-1]
		b.Reset()
		return b
	}
	b := r.batch()
	b.Reset()
	return b
}

func (r *ranges) give(batches ...*table.Batch) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.free = append(r.free, batches...)
}

// Lines implements [table.Lined].
func (r *ranges) Lines() int { return r.line - 1 }

// Progress implements [table.Table]: up to the ranges that were delivered.
func (r *ranges) Progress() int64 { return min(r.at, r.size) }

// Close implements [table.Table]. It waits for the ranges that are being read.
func (r *ranges) Close() error {
	r.stop.Store(true)
	close(r.todo)
	r.working.Wait()
	return r.reader.Close()
}
