package spill

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

const (
	// fan is how many files of a level there are at most, and are open at a time: two
	// levels of them hold 65,536 parts.
	fan = 1 << 8
	// buffered is how much of each is in memory.
	buffered = 1 << 15
)

// MostParts is the largest number of parts.
const MostParts = fan * fan

// Writer puts records into parts. Parts that follow each other share a file until they
// are asked for, where there are more of them than files.
type Writer struct {
	dir        string
	parts, per int
	groups     *files
}

// NewWriter makes a writer of a number of parts, 1 to [MostParts], that keeps its files in
// a directory, whose they are alone.
func NewWriter(dir string, parts int) *Writer {
	per := (parts + fan - 1) / fan
	return &Writer{dir: dir, parts: parts, per: per, groups: newFiles(dir, "group-", (parts+per-1)/per)}
}

// Put adds a record to a part.
func (w *Writer) Put(part int, kind byte, record []byte) error {
	return w.groups.put(part/w.per, part, kind, record)
}

// Each gives the records of every part, in the order in which they were put, of up to so many
// parts at a time, and ends with an error of one. A part's file is gone when its records were given.
func (w *Writer) Each(ctx context.Context, workers int, with func(part int, records *Reader) error) error {
	return w.each(ctx, workers, func(part int, r io.Reader) error { return with(part, NewReader(r)) })
}

// each is Each of the bytes of parts.
func (w *Writer) each(ctx context.Context, workers int, with func(part int, r io.Reader) error) error {
	if err := w.groups.close(); err != nil {
		return err
	}
	if w.per == 1 {
		return w.groups.each(ctx, workers, with)
	}
	for g := range w.groups.n {
		from := g * w.per
		parts := newFiles(w.dir, "part-", min(w.per, w.parts-from))
		if err := w.divide(ctx, g, parts); err != nil {
			return err
		}
		if err := parts.each(ctx, workers, func(i int, r io.Reader) error { return with(from+i, r) }); err != nil {
			return err
		}
	}
	return nil
}

// divide puts the records of a group into the files of its parts.
func (w *Writer) divide(ctx context.Context, group int, parts *files) error {
	err := w.groups.take(group, func(r io.Reader) error {
		records := NewReader(r)
		for n := 0; ; n++ {
			if n%(1<<10) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			part, kind, record, err := records.next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = parts.put(part-group*w.per, part, kind, record)
			}
			if err != nil {
				return err
			}
		}
	})
	return cmp.Or(err, parts.close())
}

// Close closes the files; their directory is the caller's to remove.
func (w *Writer) Close() error { return w.groups.close() }

// files are open for writing, as many as were written to.
type files struct {
	dir, prefix string
	n           int
	open        []*output
	made        []bool // a file that is gone is not one that nothing was put into
}

type output struct {
	file *os.File
	*bufio.Writer
}

func newFiles(dir, prefix string, n int) *files {
	return &files{dir: dir, prefix: prefix, n: n, open: make([]*output, n), made: make([]bool, n)}
}

func (f *files) name(i int) string { return filepath.Join(f.dir, f.prefix+strconv.Itoa(i)) }

// put adds a record to a file. The number of its part goes before it.
func (f *files) put(i, part int, kind byte, record []byte) error {
	if i < 0 || i >= f.n { // as a damaged file may say
		return io.ErrUnexpectedEOF
	}
	o := f.open[i]
	if o == nil {
		file, err := os.OpenFile(f.name(i), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return f.full(err)
		}
		o = &output{file, bufio.NewWriterSize(file, buffered)}
		f.open[i], f.made[i] = o, true
	}
	_, err := o.Write(appendHead(make([]byte, 0, mostHead), part, kind, record))
	if err == nil {
		_, err = o.Write(record)
	}
	return f.full(err)
}

// mostHead is the longest that goes before a record.
const mostHead = 1 + 2*binary.MaxVarintLen64

// appendHead appends what goes before a record: its kind, a number, and how long it is.
func appendHead(dst []byte, number int, kind byte, record []byte) []byte {
	dst = binary.AppendUvarint(append(dst, kind), uint64(number))
	return binary.AppendUvarint(dst, uint64(len(record)))
}

// close ends writing. On a full disk all files fail alike: the first error tells of all.
func (f *files) close() error {
	var all error
	for i, o := range f.open {
		if o == nil {
			continue
		}
		f.open[i] = nil
		all = cmp.Or(all, o.Flush(), o.file.Close())
	}
	return f.full(all)
}

// full says of an error of writing where there was no room, or no right to write.
func (f *files) full(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("rows could not be kept on disk in %s: %w; they need about as much room there as in memory, 8 bytes a number", f.dir, err)
}

// take reads what was put into a file, and removes it.
func (f *files) take(i int, with func(io.Reader) error) error {
	if !f.made[i] {
		return with(eof{})
	}
	file, err := os.Open(f.name(i))
	if err != nil {
		return fmt.Errorf("rows that were kept on disk are gone: %w; leave %s alone while it is in use, and start again", err, f.dir)
	}
	return errors.Join(with(file), file.Close(), os.Remove(f.name(i)))
}

// each takes all files, up to so many at a time.
func (f *files) each(ctx context.Context, workers int, with func(i int, r io.Reader) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, workers)
	for k := range errs {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < f.n && errs[k] == nil; i = int(next.Add(1)) - 1 {
				if errs[k] = ctx.Err(); errs[k] == nil {
					errs[k] = f.take(i, func(r io.Reader) error { return with(i, r) })
				}
			}
			if errs[k] != nil {
				next.Store(int64(f.n))
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// Reader reads records.
type Reader struct {
	from   io.Reader
	in     *bufio.Reader
	record []byte
}

// NewReader makes one of what a part holds.
func NewReader(r io.Reader) *Reader { return &Reader{from: r, in: bufio.NewReaderSize(r, buffered)} }

// Again goes back to the first record of a part that has a file, and returns how many
// bytes it has; 0 of one without a file.
func (r *Reader) Again() (int64, error) {
	file, ok := r.from.(io.Seeker)
	if !ok {
		return 0, nil
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	r.in.Reset(r.from)
	return size, err
}

// Next gives the next record, which holds until the next call, or io.EOF.
func (r *Reader) Next() (kind byte, record []byte, err error) {
	_, kind, record, err = r.next()
	return kind, record, err
}

func (r *Reader) next() (part int, kind byte, record []byte, err error) {
	if kind, err = r.in.ReadByte(); err != nil {
		return 0, 0, nil, err // io.EOF, between records
	}
	p, err := binary.ReadUvarint(r.in)
	if err != nil {
		return 0, 0, nil, cut(err)
	}
	n, err := binary.ReadUvarint(r.in)
	if err != nil {
		return 0, 0, nil, cut(err)
	}
	if p > math.MaxInt {
		return 0, 0, nil, io.ErrUnexpectedEOF
	}
	err = r.fill(n)
	return int(p), kind, r.record, err
}

// fill reads a record of n bytes. A damaged file may say any number: memory grows with
// what there is.
func (r *Reader) fill(n uint64) error {
	r.record = r.record[:0]
	for n > 0 {
		at := len(r.record)
		next := int(min(n, uint64(max(cap(r.record)-at, buffered))))
		r.record = slices.Grow(r.record, next)[:at+next]
		if _, err := io.ReadFull(r.in, r.record[at:]); err != nil {
			return cut(err)
		}
		n -= uint64(next)
	}
	return nil
}

// cut tells of an end within a record.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
