package parquet

import "errors"

// The bounds on what a file may ask for by its size. A file of real data stays
// far below; one that says of a few bytes that they stand for billions of values
// does not.
const (
	freeValues    = 1 << 22
	valuesPerByte = 256
	freeBytes     = 1 << 28
	bytesPerByte  = 64
)

var errTooMany = errors.New("more values than a file of this size can be trusted with")

// mostValues bounds the rows, and the values of all columns that are read.
func (f *File) mostValues() int64 { return freeValues + valuesPerByte*f.size }

// mostBytes bounds the memory of the pages that are held at a time, and, apart
// from that, the text of all keys.
func (f *File) mostBytes() int64 { return freeBytes + bytesPerByte*f.size }

// hold counts n more bytes, or fewer, of memory.
func (f *File) hold(n int) error {
	if n > 0 && int64(n) > f.mostBytes()-f.held {
		return errTooMany
	}
	f.held += int64(n)
	return nil
}

// room gives a slice of n elements of size bytes each, buf where it has the
// room, and counts what it takes. What is in it does not matter.
func room[T any](f *File, buf []T, n, size int) ([]T, error) {
	if n <= cap(buf) {
		return buf[:n], nil
	}
	if int64(n) > f.mostBytes() {
		return buf, errTooMany
	}
	if err := f.hold((n - cap(buf)) * size); err != nil {
		return buf, err
	}
	return make([]T, n), nil
}
