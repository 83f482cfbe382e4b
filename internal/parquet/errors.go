package parquet

import (
	"errors"
	"fmt"
	"io"
)

// The kinds of Error.
var (
	// ErrFormat marks a file that is damaged, hostile or of a form that is not
	// read, such as an encrypted one.
	ErrFormat = errors.New("malformed Parquet")
	// ErrEmpty marks a file of no bytes.
	ErrEmpty = errors.New("empty Parquet")
	// ErrColumn marks a column that cannot be delivered as wanted.
	ErrColumn = errors.New("unusable Parquet column")
	// ErrText marks a column of text where numbers are wanted. It wraps ErrColumn.
	ErrText = fmt.Errorf("%w: text", ErrColumn)
	// ErrValue marks a row whose list has another length than it should.
	ErrValue = errors.New("invalid Parquet value")
)

// Error says what is wrong with a file, where, and what to do. It holds no
// value of the file.
type Error struct {
	// Column is the path to a column; "" when none is to blame.
	Column string
	// Row is counted from 1; 0 when none is to blame.
	Row    int
	What   string
	Remedy string
	// Kind is one of the sentinels of this package.
	Kind error
	// Cause is the error beneath, or nil.
	Cause error
}

// Error has the form "column: what; remedy".
func (e *Error) Error() string {
	s := e.What + "; " + e.Remedy
	if e.Column != "" {
		s = e.Column + ": " + s
	}
	return s
}

// Unwrap gives the kind and the cause. Damage is never io.EOF: whoever looks for
// the end of the rows must not take it for that.
func (e *Error) Unwrap() []error {
	switch {
	case e.Cause == nil:
		return []error{e.Kind}
	case errors.Is(e.Cause, io.EOF):
		return []error{e.Kind, io.ErrUnexpectedEOF}
	}
	return []error{e.Kind, e.Cause}
}

// errEncoding marks what this package does not decode.
var errEncoding = errors.New("unknown encoding")

// damaged is the error for a cause that speaks of bytes.
func damaged(column string, cause error) error {
	var whole *Error
	if errors.As(cause, &whole) {
		named := *whole // refusals are shared
		if named.Column == "" {
			named.Column = column
		}
		return &named
	}
	e := &Error{Column: column, What: "cannot be read as Parquet", Remedy: "the file may be damaged, or use an encoding that is not supported; write it anew",
		Kind: ErrFormat, Cause: cause}
	if errors.Is(cause, errEncoding) {
		e.What, e.Remedy = "uses an encoding that is not supported", "write it anew with plain or dictionary encoding"
	}
	return e
}

func refuse(what, remedy string, kind error) error {
	return &Error{What: what, Remedy: remedy, Kind: kind}
}
