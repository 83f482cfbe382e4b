package store

import "fmt"

// What one row may hold. Nothing longer is written, and a store that holds it was
// not written by this program: its length is asked before it is fetched.
const (
	MostEntry   = 4 << 20  // bytes of an entry
	MostRelease = 64 << 20 // bytes of a release
	mostOther   = 1 << 20  // of sketches, and of what is kept of an analyst
	mostName    = 4 << 10  // of names, keys, fingerprints and hashes
	mostAtOnce  = 16 << 20 // of the entries that are read at a time, but for the last
)

// bounded is a column, or NULL where it is longer than most bytes.
func bounded(column string, most int) string {
	return fmt.Sprintf("CASE WHEN octet_length(%s) <= %d THEN %[1]s END", column, most)
}

// within scans a bounded column, which is of a table without NULL.
type within[T ~string | ~[]byte] struct{ into *T }

// Scan implements [sql.Scanner].
func (w within[T]) Scan(value any) error {
	switch v := value.(type) {
	case []byte:
		*w.into = T(append([]byte{}, v...))
		return nil
	case string:
		*w.into = T(v)
		return nil
	}
	return errTooLong
}

// errTooLong refuses a row that no version of this program wrote.
var errTooLong = Abort(fmt.Errorf("%w: it holds a row that is longer than this program writes; restore the ledger from a backup", ErrStore))

// few refuses to write what would be refused when it is read.
func few(what string, n, most int) error {
	if n <= most {
		return nil
	}
	return Abort(fmt.Errorf("%w: %s of %d bytes; at most %d are kept", ErrStore, what, n, most))
}
