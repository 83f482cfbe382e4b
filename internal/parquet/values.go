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
		if c.decimal != nil {
			return c.decimals(dst, stride, b, n)
		}
		if c.clock != nil {
			c.times(dst, stride, b, n)
			return nil
		}
		spread(dst, stride, c.kind, b, n)
		return nil
	case stringForm, lengthForm, frontForm:
		return c.decimalStrings(dst, stride, n)
	case bitForm:
		if n > 8*len(v.data)-v.at {
			return errValuesShort
		}
		c.bound(n, Bounds{0, v.bits(dst, stride, n), true})
		return nil
	}
	if v.form == indexForm {
		c.bound(n, c.dictionary.bounds)
	}
	for i := 0; i < n; {
		index := c.file.index[:min(n-i, atOnce)]
		if err := fill(&v.runs, index); err != nil {
			return err
		}
		c.lookup(dst[i*stride:], stride, index)
		i += len(index)
	}
	return nil
}

// bits puts the next n booleans into every stride-th place of dst, and tells the highest.
func (v *values) bits(dst []float64, stride, n int) (highest float64) {
	at, end := v.at, v.at+n
	v.at = end
	for i := 0; at < end; {
		b, left := v.data[at/8]>>(at%8), min(8-at%8, end-at)
		at += left
		if b == 0 { // flags are mostly down
			for range left {
				dst[i] = 0
				i += stride
			}
			continue
		}
		highest = 1 // or beyond the end
		for range left {
			dst[i] = float64(b & 1)
			b >>= 1
			i += stride
		}
	}
	return highest
}

// lookup puts the numbers that have the indices into dst.
func (c *Column) lookup(dst []float64, stride int, index []uint32) {
	if c.values.form == runForm {
		for i, at := range index {
			dst[i*stride] = float64(at)
		}
		return
	}
	numbers := c.dictionary.numbers
	if stride == 1 {
		dst = dst[:len(index)]
		for i, at := range index {
			dst[i] = numbers[at]
		}
		return
	}
	for i, at := range index {
		dst[i*stride] = numbers[at]
	}
}

// spread puts n numbers from b into every stride-th place of dst.
func spread(dst []float64, stride int, kind numeric, b []byte, n int) {
	at := 0
	switch kind {
	case doubles:
		b = b[:8*n]
		if stride == 1 { // four at a time
			for ; len(b) >= 32 && len(dst) >= 4; b, dst = b[32:], dst[4:] {
				dst[0] = own(math.Float64frombits(binary.LittleEndian.Uint64(b)))
				dst[1] = own(math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
				dst[2] = own(math.Float64frombits(binary.LittleEndian.Uint64(b[16:])))
				dst[3] = own(math.Float64frombits(binary.LittleEndian.Uint64(b[24:])))
			}
		}
		for ; len(b) >= 8; b = b[8:] {
			dst[at] = own(math.Float64frombits(binary.LittleEndian.Uint64(b)))
			at += stride
		}
	case int64s:
		for b = b[:8*n]; len(b) >= 8; b = b[8:] {
			dst[at] = float64(int64(binary.LittleEndian.Uint64(b)))
			at += stride
		}
	case uint64s:
		for b = b[:8*n]; len(b) >= 8; b = b[8:] {
			dst[at] = float64(binary.LittleEndian.Uint64(b))
			at += stride
		}
	case int32s:
		for b = b[:4*n]; len(b) >= 4; b = b[4:] {
			dst[at] = float64(int32(binary.LittleEndian.Uint32(b)))
			at += stride
		}
	case uint32s:
		for b = b[:4*n]; len(b) >= 4; b = b[4:] {
			dst[at] = float64(binary.LittleEndian.Uint32(b))
			at += stride
		}
	case floats:
		for b = b[:4*n]; len(b) >= 4; b = b[4:] {
			dst[at] = own(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
			at += stride
		}
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
