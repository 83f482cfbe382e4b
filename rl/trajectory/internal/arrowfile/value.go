package arrowfile

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strconv"
)

// integer gives what reads an integer of a row.
func (c *column) integer(b []byte) func(row int) int64 {
	le := binary.LittleEndian
	switch {
	case c.bits == 8 && c.signed:
		return func(row int) int64 { return int64(int8(b[row])) }
	case c.bits == 8:
		return func(row int) int64 { return int64(b[row]) }
	case c.bits == 16 && c.signed:
		return func(row int) int64 { return int64(int16(le.Uint16(b[2*row:]))) }
	case c.bits == 16:
		return func(row int) int64 { return int64(le.Uint16(b[2*row:])) }
	case c.bits == 32 && c.signed:
		return func(row int) int64 { return int64(int32(le.Uint32(b[4*row:]))) }
	case c.bits == 32:
		return func(row int) int64 { return int64(le.Uint32(b[4*row:])) }
	}
	return func(row int) int64 { return int64(le.Uint64(b[8*row:])) }
}

// number gives what reads the number of a row; nil of a type that is none.
func (c *column) number(v *cells) func(row int) float64 {
	le := binary.LittleEndian
	switch {
	case c.isInt():
		read, unsigned := c.integer(v.parts[0]), c.bits == 64 && !c.signed
		return func(row int) float64 {
			if unsigned {
				return float64(uint64(read(row)))
			}
			return float64(read(row))
		}
	case c.encoded || len(v.parts) == 0:
		return nil
	case c.kind == typeFloat && c.bits == 32:
		return func(row int) float64 { return float64(math.Float32frombits(le.Uint32(v.parts[0][4*row:]))) }
	case c.kind == typeFloat:
		return func(row int) float64 { return math.Float64frombits(le.Uint64(v.parts[0][8*row:])) }
	case c.kind == typeBool:
		return func(row int) float64 { return float64(v.parts[0][row/8] >> (row % 8) & 1) }
	case c.kind == typeDecimal:
		return func(row int) float64 {
			n := c.bits / 8
			return decimal(v.parts[0][n*row:n*row+n], c.scale)
		}
	}
	return nil
}

// decimal is the float64 nearest to an integer of two's complement, divided by a power of ten.
func decimal(b []byte, scale int) float64 {
	b = slices.Clone(b)
	slices.Reverse(b)
	n := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	v, _ := strconv.ParseFloat(n.String()+"e"+strconv.Itoa(-scale), 64) // beyond its range it is infinite
	return v
}

// time gives what reads the microseconds since 1970 of a date or timestamp, rounded down.
func (c *column) time(v *cells) func(row int) float64 {
	per := int64(1) // of the unit in a microsecond
	times := 1.0
	whole := *c
	switch whole.bits, whole.signed = 64, true; {
	case c.kind == typeDate && c.unit == 0:
		whole.bits, times = 32, 86400e6
	case c.kind == typeDate:
		times = 1e3
	case c.unit == 0:
		times = 1e6
	case c.unit == 1:
		times = 1e3
	case c.unit == 3:
		per = 1e3
	}
	read := whole.integer(v.parts[0])
	return func(row int) float64 {
		n := read(row)
		q := n / per
		if n%per < 0 {
			q--
		}
		return float64(q) * times
	}
}

// text gives what appends the key of a row.
func (c *column) text(v *cells, words dictionaries) func(dst []byte, row int) []byte {
	switch {
	case c.encoded:
		index, all := c.integer(v.parts[0]), words[c.dictionary]
		return func(dst []byte, row int) []byte { return append(dst, all[index(row)]...) }
	case c.kind == typeInt && c.bits == 64 && !c.signed:
		read := c.integer(v.parts[0])
		return func(dst []byte, row int) []byte { return strconv.AppendUint(dst, uint64(read(row)), 10) }
	case c.kind == typeInt:
		read := c.integer(v.parts[0])
		return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, read(row), 10) }
	}
	read := c.bytes(v)
	return func(dst []byte, row int) []byte { return append(dst, read(row)...) }
}

// bytes gives what reads the text of a row.
func (c *column) bytes(v *cells) func(row int) []byte {
	le := binary.LittleEndian
	switch c.kind {
	case typeText:
		return func(row int) []byte {
			return v.parts[1][le.Uint32(v.parts[0][4*row:]):le.Uint32(v.parts[0][4*row+4:])]
		}
	case typeLargeText:
		return func(row int) []byte {
			return v.parts[1][le.Uint64(v.parts[0][8*row:]):le.Uint64(v.parts[0][8*row+8:])]
		}
	case typeTextView:
		return func(row int) []byte {
			view := v.parts[0][16*row : 16*row+16]
			n := int(le.Uint32(view))
			if n <= 12 {
				return view[4 : 4+n]
			}
			from := int(le.Uint32(view[12:]))
			return v.parts[1+int(le.Uint32(view[8:]))][from : from+n]
		}
	}
	return func(int) []byte { return nil }
}
