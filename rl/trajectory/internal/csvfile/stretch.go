package csvfile

import (
	"io"
	"sync"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// stretchBytes are those of a stretch: many for each worker, and few against what is
// read twice where two of them meet.
const stretchBytes = 1 << 21

// Cut implements [table.Cuttable], for files that are not compressed.
//
// A stretch holds the records that start in it. Where its first record starts is guessed:
// after the first line's end. In a field in quotes that guess is wrong, and the stretch
// does not start where the one before it ends.
func (t *reader) Cut(workers int) []func() (table.Stretch, error) {
	return t.cut(workers, stretchBytes)
}

func (t *reader) cut(workers int, step int64) []func() (table.Stretch, error) {
	file, size, ok := t.in.Plain()
	first := t.scan.at()
	if !ok || workers < 2 || size-first < 2*step {
		return nil
	}
	var out []func() (table.Stretch, error)
	spare := new(buffers)
	for place := first; place < size; place += step {
		out = append(out, func() (table.Stretch, error) {
			return t.stretch(file, place == first, place, place+step, size, rangeBuffer, spare)
		})
	}
	return out
}

// Part implements [table.Cuttable], for files that are not compressed and whose records are lines.
func (t *reader) Part(i, n int) (table.Stretch, error) {
	file, size, ok := t.in.Plain()
	if !ok || t.scan.multiline {
		return nil, nil
	}
	first := t.scan.at()
	bound := func(i int) int64 { return first + (size-first)*int64(i)/int64(n) }
	return t.stretch(file, i == 0, bound(i), bound(i+1), size, size, new(buffers))
}

// stretch is one from a place to before another, the first or one whose line is sought in so many bytes at most.
func (t *reader) stretch(file io.ReaderAt, first bool, place, limit, size, most int64, spare *buffers) (table.Stretch, error) {
	if limit >= size {
		limit = toEnd
	}
	start, line := place, 1
	if first {
		line = t.scan.line
	} else {
		var err error
		if start, err = lineFrom(file, place, size, most); err != nil {
			return nil, err
		}
	}
	s := &stretch{reader: t.from(file, start, size, line), start: start, spare: spare}
	s.scan.limit, s.scan.data = limit, spare.take()
	return s, nil
}

// stretch is the records that start in a range of bytes.
type stretch struct {
	*reader
	start, end int64
	lines      int
	spare      *buffers
}

// buffers are those of stretches that were closed, for the next ones.
type buffers struct {
	mutex sync.Mutex
	all   [][]byte
}

func (b *buffers) take() []byte {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	n := len(b.all)
	if n == 0 {
		return nil
	}
	buf := b.all[n-1]
	b.all = b.all[:n-1]
	return buf[:0]
}

func (b *buffers) give(buf []byte) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.all = append(b.all, buf)
}

// Beyond implements [table.Stretch].
func (s *stretch) Beyond() {
	s.end, s.lines = s.scan.at(), s.scan.line-1
	s.scan.limit = toEnd
	if s.failed == io.EOF {
		s.failed = nil
	}
}

// Span implements [table.Stretch].
func (s *stretch) Span() (start, end int64) { return s.start, s.end }

// Numbered implements [table.Stretch]: lines are counted from the first of the stretch.
func (s *stretch) Numbered() int { return s.lines }

// Progress implements [table.Table].
func (s *stretch) Progress() int64 { return s.scan.at() }

// Close implements [table.Table]. The file is that of the table that was cut.
func (s *stretch) Close() error {
	if s.scan.data != nil {
		s.spare.give(s.scan.data)
		s.scan.data, s.scan.buf = nil, nil
	}
	return nil
}
