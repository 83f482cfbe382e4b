package parquet

// The bounds on what a file may ask for by its size. A file of real data stays
// far below (a simulated chain of eight columns of small integers, compressed by
// Zstandard at its best, has 11 values a byte); one that says of a few bytes that
// they stand for billions of values does not.
const (
	freeValues    = 1 << 22
	valuesPerByte = 32
	freeBytes     = 1 << 26
	bytesPerByte  = 64
	maxKey        = 1 << 12
	maxList       = 1 << 20
)

// The refusals that name a limit.
var (
	errTooMany = refuse("claims more rows or values than the limit for a file of this size (4194304, and 32 a byte)",
		"it may be damaged; if not, write it without compression and dictionaries", ErrFormat)
	errTooLarge = refuse("its pages take more memory than the limit for a file of this size (64 MiB, and 64 bytes a byte)",
		"write it with smaller pages and row groups, or without compression", ErrFormat)
	errTooMuchText = refuse("its ids take more memory than the limit for a file of this size (64 MiB, and 64 bytes a byte)",
		"write shorter ids, or the file without compression and dictionaries", ErrFormat)
	errLongList = refuse("holds a list of more than 1048576 values, the limit", "write one flat column a number, or shorter lists", ErrColumn)
	errColumns  = refuse("has more columns, row groups and names of columns than the limit (1048576 in all)",
		"write fewer columns, or fewer and larger row groups", ErrFormat)
	errFooter = refuse("has a footer of more than 64 MiB, the limit", "write fewer columns, or fewer and larger row groups", ErrFormat)
)

// mostValues bounds the rows, and the values of all columns that are read.
func (f *File) mostValues() int64 { return freeValues + valuesPerByte*f.size }

// mostBytes bounds the memory of the pages that are held at a time, and, apart
// from that, the text of all keys.
func (f *File) mostBytes() int64 { return freeBytes + bytesPerByte*f.size }

// hold counts n more bytes, or fewer, of memory.
func (f *File) hold(n int) error {
	if n > 0 && int64(n) > f.mostBytes()-f.held {
		return errTooLarge
	}
	f.held += int64(n)
	return nil
}

// sized gives a slice of n elements of size bytes each, buf where that is large
// enough, and counts what it takes. What is in it does not matter.
func sized[T any](f *File, buf []T, n, size int) ([]T, error) {
	if n <= cap(buf) {
		return buf[:n], nil
	}
	if int64(n) > f.mostBytes() {
		return buf, errTooLarge
	}
	if err := f.hold((n - cap(buf)) * size); err != nil {
		return buf, err
	}
	return make([]T, n), nil
}
