package trajectory

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. Everything that is wrong with data wraps ErrInput and one of
// the finer ones; what is wrong with the caller's wishes wraps ErrOptions.
var (
	// ErrInput marks data that cannot be used.
	ErrInput = fault.Input("invalid trajectory data")
	// ErrFormat marks a file that is not of its format: cut short, corrupt, or
	// of a schema version that is not known.
	ErrFormat = errors.New("malformed file")
	// ErrColumn marks a column that is missing, repeated, ambiguous or of a type
	// that cannot be read.
	ErrColumn = errors.New("unusable column")
	// ErrValue marks a value that is missing, not a number or out of range.
	ErrValue = errors.New("invalid value")
	// ErrEpisode marks rows that do not form episodes: out of order, with gaps,
	// apart, or ended in the middle.
	ErrEpisode = errors.New("rows do not form an episode")
	// ErrEmpty marks data without a single decision.
	ErrEmpty = errors.New("no data")

	// ErrOptions marks options that contradict themselves or are out of range.
	ErrOptions = fault.Input("invalid options")
)

// InputError says what is wrong with data, where, and what to do. It is meant
// for the curator of the data: it names a file, a row and a column, and it never
// holds a value, nor the name of a person or of an episode.
type InputError struct {
	// File is the path of the file.
	File string
	// Row is the line of the file for formats made of lines (the header is line
	// 1) and the row, counted from 1, for the others; 0 when no row is to blame.
	Row int
	// Element is which element of the list of rows in that line it is, counted from 1; 0
	// where lines hold no lists of rows.
	Element int
	// Column is the column's name in the file; "" when no column is to blame.
	Column string
	// What says what is wrong.
	What string
	// Remedy says what to do; it may be empty.
	Remedy string
	// Kind is the finer sentinel, such as ErrValue.
	Kind error
	// Cause is the error beneath, or nil. It is not printed.
	Cause error
}

// Error has the form "file:row: column: what; remedy".
func (e *InputError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Row > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(e.Row))
		}
		if e.Element > 0 {
			b.WriteString(", element ")
			b.WriteString(strconv.Itoa(e.Element))
		}
		b.WriteString(": ")
	}
	if e.Column != "" {
		b.WriteString(e.Column)
		b.WriteString(": ")
	}
	b.WriteString(e.What)
	if e.Remedy != "" {
		b.WriteString("; ")
		b.WriteString(e.Remedy)
	}
	return b.String()
}

// Unwrap gives ErrInput, the finer sentinel and the cause.
func (e *InputError) Unwrap() []error {
	errs := []error{ErrInput}
	if e.Kind != nil {
		errs = append(errs, e.Kind)
	}
	switch {
	case errors.Is(e.Cause, io.EOF):
		// Whoever looks for the end of the data must not take damage for it.
		errs = append(errs, io.ErrUnexpectedEOF)
	case e.Cause != nil:
		errs = append(errs, e.Cause)
	}
	return errs
}
