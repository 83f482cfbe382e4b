package minarifile

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// leaf is a column of one episode's file: rows of width numbers. Its name is the
// path to it, such as observations.position.
type leaf struct {
	name string
	// list tells that a row is a list, even of one number.
	list  bool
	width int
	// values holds rows*width numbers; table.Null where one is missing.
	values []float64
	// bad says why the numbers are not there; "" when they are.
	bad string
}

// maxValues bounds the numbers of one column of one episode, and maxWidth those
// of a row: a damaged file must not ask for more memory than there is.
const (
	maxValues = 1 << 28
	maxWidth  = 1 << 20
	maxDepth  = 32
)

// own replaces a NaN of a file by the plain one: the missing number is a NaN
// too, and a file must not be able to forge it.
func own(v float64) float64 {
	if v != v {
		return math.NaN()
	}
	return v
}

func damaged(file string, cause error) error {
	// A stream ends at io.EOF: what stops short in the middle must not be taken for
	// that.
	if errors.Is(cause, io.EOF) {
		cause = io.ErrUnexpectedEOF
	}
	return fault(file, "cannot be read", "the file may be damaged, or use a type or an encoding that is not supported; write the dataset anew", trajectory.ErrFormat, cause)
}

// rescue makes an error of a panic: slices of a damaged file are out of bounds.
func rescue(file string, err *error) {
	if p := recover(); p != nil {
		*err = damaged(file, fmt.Errorf("decoder: %v", p))
	}
}
