package parquetfile

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
func (t *table) mostValues() int64 { return freeValues + valuesPerByte*t.size }

// mostBytes bounds the memory of the pages that are held at a time, and, apart
// from that, the text of all keys.
func (t *table) mostBytes() int64 { return freeBytes + bytesPerByte*t.size }

// hold counts n more bytes, or fewer, of memory.
func (t *table) hold(n int) error {
	if n > 0 && int64(n) > t.mostBytes()-t.held {
		return errTooMany
	}
	t.held += int64(n)
	return nil
}

// room gives a slice of n elements of size bytes each, buf where it has the
// room, and counts what it takes. What is in it does not matter.
func room[T any](t *table, buf []T, n, size int) ([]T, error) {
	if n <= cap(buf) {
		return buf[:n], nil
	}
	if int64(n) > t.mostBytes() {
		return buf, errTooMany
	}
	if err := t.hold((n - cap(buf)) * size); err != nil {
		return buf, err
	}
	return make([]T, n), nil
}
