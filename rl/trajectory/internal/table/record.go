package table

import (
	"encoding/binary"
	"math"
	"slices"
)

// How the numbers of a column of an episode are written, each bit for bit.
const (
	inFull  = iota
	inBytes // whole numbers from 0 to 255
	inCodes // few numbers, and of each row which of them
)

const (
	mostListed = 8  // numbers of inCodes
	fewRows    = 12 // fewer are written in full or in bytes
)

// AppendNumbers appends a column to a record.
func AppendNumbers(dst []byte, values []float64) []byte {
	if len(values) == 0 {
		return dst
	}
	from := len(dst)
	dst, n := appendBytes(append(dst, inBytes), values)
	if n < len(values) {
		return others(dst[:from], values, n)
	}
	return dst
}

// appendBytes appends numbers up to the first, after so many, that is no byte.
func appendBytes(dst []byte, values []float64) ([]byte, int) {
	from := len(dst)
	dst = slices.Grow(dst, len(values))[:from+len(values)]
	to := dst[from:]
	for i, v := range values {
		b := uint8(int64(v))
		if math.Float64bits(float64(b)) != math.Float64bits(v) {
			return dst[:from+i], i
		}
		to[i] = b
	}
	return dst, len(values)
}

// Numbers is a column that grows.
type Numbers struct {
	bytes []byte    // as long as nothing else is among them
	all   []float64 // else
}

// Add adds rows.
func (c *Numbers) Add(values []float64) {
	if len(c.all) == 0 {
		n := 0
		if c.bytes, n = appendBytes(c.bytes, values); n == len(values) {
			return
		}
		for _, b := range c.bytes {
			c.all = append(c.all, float64(b))
		}
		c.bytes, values = c.bytes[:0], values[n:]
	}
	c.all = append(c.all, values...)
}

// Size is in bytes.
func (c *Numbers) Size() int { return len(c.bytes) + 8*len(c.all) }

// AppendTo is [AppendNumbers] of all rows.
func (c *Numbers) AppendTo(dst []byte) []byte {
	if len(c.bytes) > 0 {
		return append(append(dst, inBytes), c.bytes...)
	}
	return AppendNumbers(dst, c.all)
}

// Reset leaves no rows.
func (c *Numbers) Reset() { c.bytes, c.all = c.bytes[:0], c.all[:0] }

// others appends numbers of which one, after so many, is no byte.
func others(dst []byte, values []float64, bytes int) []byte {
	if len(values) >= fewRows && bytes < mostListed {
		from, list, listed := len(dst), [mostListed]uint64{}, 0
		dst = slices.Grow(dst, 2+8*mostListed+len(values))
		dst = append(dst, inCodes, 0)
		dst = append(dst, make([]byte, 8*mostListed)...)
		last, code := uint64(0), -1
		for _, v := range values {
			if bits := math.Float64bits(v); code < 0 || bits != last {
				if last, code = bits, slices.Index(list[:listed], bits); code < 0 {
					if listed == mostListed {
						return full(dst[:from], values)
					}
					code, list[listed] = listed, bits
					listed++
				}
			}
			dst = append(dst, byte(code))
		}
		dst[from+1] = byte(listed)
		for i, bits := range list[:listed] {
			binary.LittleEndian.PutUint64(dst[from+2+8*i:], bits)
		}
		return slices.Delete(dst, from+2+8*listed, from+2+8*mostListed)
	}
	return full(dst, values)
}

func full(dst []byte, values []float64) []byte {
	dst = append(slices.Grow(dst, 1+8*len(values)), inFull)
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

// Record is one that is read, from its beginning. Short tells that it ended too early.
type Record struct {
	Left  []byte
	Short bool
}

// Bytes are the next ones; nil, and the record is short, where there are not so many.
func (r *Record) Bytes(n int) []byte {
	if n < 0 || n > len(r.Left) {
		r.Short, r.Left = true, nil
		return nil
	}
	b := r.Left[:n:n]
	r.Left = r.Left[n:]
	return b
}

// Byte is the next one, 0 where there is none.
func (r *Record) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Count is a number of 63 bits.
func (r *Record) Count() int {
	if len(r.Left) > 0 && r.Left[0] < 1<<7 { // mostly
		v := r.Left[0]
		r.Left = r.Left[1:]
		return int(v)
	}
	v, n := binary.Uvarint(r.Left)
	if n <= 0 || v > math.MaxInt64 {
		r.Short, r.Left = true, nil
		return 0
	}
	r.Left = r.Left[n:]
	return int(v)
}

// Signed is a number that may be below 0.
func (r *Record) Signed() int {
	v, n := binary.Varint(r.Left)
	if n <= 0 {
		r.Short, r.Left = true, nil
		return 0
	}
	r.Left = r.Left[n:]
	return int(v)
}

// Numbers appends a column that AppendNumbers wrote. It is not nil even where it has no rows:
// the data have such a column. Memory is asked for what is there.
func (r *Record) Numbers(dst []float64, rows, width int) []float64 {
	n := 0
	if most := len(r.Left); width == 0 || rows <= most/width {
		n = rows * width
	} else {
		r.Short, r.Left = true, nil
	}
	from := len(dst)
	dst = slices.Grow(dst, n+1)
	if n == 0 {
		return dst
	}
	to := dst[from:][:n]
	switch form := r.Bytes(1); {
	case r.Short:
	case form[0] == inBytes:
		for i, b := range r.Bytes(n) {
			to[i] = float64(b)
		}
	case form[0] == inCodes:
		var list [math.MaxUint8 + 1]float64
		listed := int(max(r.Byte(), 1))
		for i := range listed {
			if b := r.Bytes(8); b != nil {
				list[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
			}
		}
		last := uint8(0)
		for i, code := range r.Bytes(n) {
			last, to[i] = max(last, code), list[code]
		}
		r.Short = r.Short || int(last) >= listed
	case form[0] == inFull:
		b := r.Bytes(8 * n)
		for i := 0; 8*i < len(b); i++ {
			to[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	default:
		r.Short = true
	}
	if r.Short {
		return dst[:from]
	}
	return dst[:from+n]
}
