package parquet

import (
	"encoding/binary"
	"errors"
	"math"
)

var (
	errValuesShort = errors.New("a page with fewer values than it has levels")
	errText        = errors.New("a string beyond the end of its page")
)

// form is the way in which the values of a page lie in memory.
type form uint8

const (
	fixedForm  form = iota // one after the other, of width bytes each
	bitForm                // booleans, from the lowest bit
	runForm                // booleans as runs
	indexForm              // of a dictionary
	stringForm             // each after its length of four bytes
	lengthForm             // strings after all their lengths
	frontForm              // strings of which the front is that of the one before
)

// values are those of a page that are to come, in order.
type values struct {
	form   form
	width  int
	data   []byte
	at     int // bit of data
	runs   hybrid
	prefix []byte // of fronts: lengths of what is kept, four bytes each
	suffix []byte // of lengths and fronts: lengths of what is new
	last   []byte // of fronts: the string before
}

// take cuts n values of a fixed width from the front.
func (v *values) take(n int) ([]byte, error) {
	if n > len(v.data)/v.width {
		return nil, errValuesShort
	}
	b := v.data[:n*v.width]
	v.data = v.data[n*v.width:]
	return b, nil
}

// numbers puts the next n values into every stride-th place of dst.
func (c *Column) numbers(dst []float64, stride, n int) error {
	v := &c.values
	switch v.form {
	case fixedForm:
		b, err := v.take(n)
		if err != nil {
			return err
		}
		spread(dst, stride, c.kind, b, n)
		return nil
	case bitForm:
		if n > 8*len(v.data)-v.at {
			return errValuesShort
		}
		for i := range n {
			dst[i*stride] = float64(v.data[v.at/8] >> (v.at % 8) & 1)
			v.at++
		}
		return nil
	}
	for i := 0; i < n; {
		index := c.file.index[:min(n-i, some)]
		if err := fill(&v.runs, index); err != nil {
			return err
		}
		c.look(dst[i*stride:], stride, index)
		i += len(index)
	}
	return nil
}

// look puts the numbers that have the indices into dst.
func (c *Column) look(dst []float64, stride int, index []uint32) {
	if c.values.form == runForm {
		for i, at := range index {
			dst[i*stride] = float64(at)
		}
		return
	}
	numbers := c.dictionary.numbers
	for i, at := range index {
		dst[i*stride] = numbers[at]
	}
}

// spread puts n numbers from b into every stride-th place of dst.
func spread(dst []float64, stride int, kind numeric, b []byte, n int) {
	if kind == doubles { // by far the most common
		for i := range n {
			dst[i*stride] = own(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
		return
	}
	for i := range n {
		var x float64
		switch kind {
		case int32s:
			x = float64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		case int64s:
			x = float64(int64(binary.LittleEndian.Uint64(b[8*i:])))
		case uint32s:
			x = float64(binary.LittleEndian.Uint32(b[4*i:]))
		case uint64s:
			x = float64(binary.LittleEndian.Uint64(b[8*i:]))
		case floats:
			x = own(float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))))
		}
		dst[i*stride] = x
	}
}

// own replaces every NaN of the file by the plain one: the missing number is a
// NaN too, and a file must not be able to forge it.
func own(x float64) float64 {
	if x != x {
		return math.NaN()
	}
	return x
}
