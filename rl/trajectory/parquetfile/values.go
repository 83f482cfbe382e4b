package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/rl/trajectory"
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

// dictionary is that of a chunk.
type dictionary struct {
	n       int
	data    []byte
	width   int
	offsets []uint32  // of strings
	numbers []float64 // of a column that is wanted as numbers
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
func (c *column) numbers(dst []float64, stride, n int) error {
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
		index := c.t.index[:min(n-i, some)]
		if err := fill(&v.runs, index); err != nil {
			return err
		}
		c.look(dst[i*stride:], stride, index)
		i += len(index)
	}
	return nil
}

// look puts the numbers that have the indices into dst.
func (c *column) look(dst []float64, stride int, index []uint32) {
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

// string gives the next one, which is valid until the one after.
func (v *values) string() ([]byte, error) {
	switch v.form {
	case fixedForm:
		return v.take(1)
	case stringForm:
		if len(v.data) < 4 {
			return nil, errValuesShort
		}
		n := binary.LittleEndian.Uint32(v.data)
		v.data = v.data[4:]
		return v.cut(n)
	}
	if len(v.suffix) < 4 {
		return nil, errValuesShort
	}
	n := binary.LittleEndian.Uint32(v.suffix)
	v.suffix = v.suffix[4:]
	tail, err := v.cut(n)
	if err != nil || v.form == lengthForm {
		return tail, err
	}
	if len(v.prefix) < 4 {
		return nil, errValuesShort
	}
	kept := binary.LittleEndian.Uint32(v.prefix)
	v.prefix = v.prefix[4:]
	if uint64(kept) > uint64(len(v.last)) {
		return nil, errText
	}
	v.last = append(v.last[:kept], tail...)
	return v.last, nil
}

func (v *values) cut(n uint32) ([]byte, error) {
	if uint64(n) > uint64(len(v.data)) {
		return nil, errText
	}
	s := v.data[:n]
	v.data = v.data[n:]
	return s, nil
}

// entry is a key of the dictionary.
func (d *dictionary) entry(i uint32) []byte {
	if d.offsets != nil {
		return d.data[d.offsets[i]+4 : d.offsets[i+1]]
	}
	return d.data[int(i)*d.width : (int(i)+1)*d.width]
}

// fill takes a dictionary of n entries from a page.
func (d *dictionary) fill(c *column, page []byte, n int) error {
	d.n, d.data, d.width = n, page, c.width
	if c.width == 0 {
		return errors.New("a dictionary of booleans")
	}
	if c.width > 0 {
		if n > len(page)/c.width {
			return errValuesShort
		}
		if c.pick.Kind != trajectory.Number {
			return nil
		}
		var err error
		if d.numbers, err = room(c.t, d.numbers, n, 8); err == nil {
			spread(d.numbers, 1, c.kind, page, n)
		}
		return err
	}
	if n > len(page)/4 {
		return errValuesShort
	}
	var err error
	if d.offsets, err = room(c.t, d.offsets, n+1, 4); err != nil {
		return err
	}
	at := 0
	for i := range n {
		d.offsets[i] = uint32(at)
		if len(page)-at < 4 {
			return errText
		}
		size := binary.LittleEndian.Uint32(page[at:])
		if at += 4; uint64(size) > uint64(len(page)-at) {
			return errText
		}
		at += int(size)
	}
	d.offsets[n] = uint32(at)
	return nil
}

// encoded makes the values of a page, at most n of them, ready.
func (c *column) encoded(encoding int32, b []byte, n int) error {
	v := &c.values
	*v = values{data: b, width: c.width, last: v.last[:0]}
	var err error
	switch {
	case encoding == plain && c.width == 0:
		v.form = bitForm
	case encoding == plain && c.width < 0:
		v.form = stringForm
	case encoding == plain:
	case encoding == plainDictionary || encoding == rleDictionary:
		v.form = indexForm
		if len(b) == 0 { // there are no values
			return nil
		}
		v.runs, err = newHybrid(b[1:], int(b[0]), uint64(c.dictionary.n), n)
	case encoding == rle && c.width == 0:
		v.form = runForm
		if b, _, err = prefixed(b); err == nil {
			v.runs, err = newHybrid(b, 1, 2, n)
		}
	case encoding == deltaBinary && (c.kind == int32s || c.kind == uint32s || c.kind == int64s || c.kind == uint64s):
		v.data, _, err = c.deltas(0, b, c.width, n)
	case encoding == deltaLengthBytes && c.width < 0:
		v.form = lengthForm
		v.suffix, v.data, err = c.deltas(0, b, 4, n)
	case encoding == deltaBytes && c.width != 0 && c.kind == notNumber:
		v.form = frontForm
		if v.prefix, b, err = c.deltas(1, b, 4, n); err == nil {
			v.suffix, v.data, err = c.deltas(0, b, 4, n)
		}
	case encoding == byteStreamSplit && c.width > 0:
		v.data, err = c.gather(b)
	default:
		return fmt.Errorf("values: %w %d", errEncoding, encoding)
	}
	return err
}

// prefixed cuts a part from the front of b, after its length of four bytes.
func prefixed(b []byte) (part, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errRunShort
	}
	n := binary.LittleEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) {
		return nil, nil, errRunShort
	}
	return b[:n], b[n:], nil
}

// deltas decodes the numbers at the front of b.
func (c *column) deltas(buffer int, b []byte, width, n int) (numbers, rest []byte, err error) {
	d, err := newDelta(b, n)
	if err != nil {
		return nil, nil, err
	}
	dst, err := room(c.t, c.work[buffer], d.total*width, 1)
	if err != nil {
		return nil, nil, err
	}
	c.work[buffer] = dst
	err = d.decode(dst, width)
	return dst, d.b, err
}

// gather undoes BYTE_STREAM_SPLIT: the first bytes of all values, then the
// second ones, and so on.
func (c *column) gather(b []byte) ([]byte, error) {
	if len(b)%c.width != 0 {
		return nil, errValuesShort
	}
	dst, err := room(c.t, c.work[0], len(b), 1)
	if err != nil {
		return nil, err
	}
	c.work[0] = dst
	n := len(b) / c.width
	for i := range n {
		for j := range c.width {
			dst[i*c.width+j] = b[j*n+i]
		}
	}
	return dst, nil
}
