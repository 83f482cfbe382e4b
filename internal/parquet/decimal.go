package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"
	"strconv"
)

// Decimals are whole numbers of units of ten to a power; these are 76 digits long at most,
// which 32 bytes hold.
const (
	mostScale   = 76
	mostDecimal = 32
)

var errDecimal = errors.New("a decimal of no byte, or of more than 32")

// decimal is how the values of a leaf are meant: with so many digits after the point.
type decimal struct{ scale int }

// decimalOf tells of a leaf that it holds decimals; nil where it does not.
func decimalOf(c *node) *decimal {
	if c.logical != logicalDecimal {
		return nil
	}
	switch c.kind {
	case physicalInt32, physicalInt64, physicalBytes:
		return &decimal{int(c.scale)}
	case physicalFixed:
		if c.length > 0 {
			return &decimal{int(c.scale)}
		}
	}
	return nil
}

// isUUID tells of a leaf that it holds the 16 bytes of a UUID.
func isUUID(c *node) bool {
	return c.logical == logicalUUID && c.kind == physicalFixed && c.length == 16
}

// powers are those of ten that a float64 holds exactly.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// exactBelow bounds the integers that a float64 holds without gaps.
const exactBelow = 1 << 53

// decimalNumber is the float64 that is nearest to the decimal stored as b, ties to even.
func (c *Column) decimalNumber(b []byte) (float64, error) {
	units, large, err := c.units(b)
	if err != nil {
		return 0, err
	}
	if large == nil && units > -exactBelow && units < exactBelow && c.decimal.scale < len(powers) {
		return float64(units) / powers[c.decimal.scale], nil // rounds once
	}
	digits := strconv.AppendInt(c.text[:0], units, 10)
	if large != nil {
		digits = large.Append(c.text[:0], 10)
	}
	c.text = strconv.AppendInt(append(digits, 'e', '-'), int64(c.decimal.scale), 10)
	return strconv.ParseFloat(string(c.text), 64)
}

// decimalText is the decimal stored as b in digits, without zeros after the last one of
// its fraction, so that what is one number is one text.
func (c *Column) decimalText(b []byte) ([]byte, error) {
	units, large, err := c.units(b)
	if err != nil {
		return nil, err
	}
	text := strconv.AppendInt(c.text[:0], units, 10)
	if large != nil {
		text = large.Append(c.text[:0], 10)
	}
	if scale := c.decimal.scale; scale > 0 {
		sign := len(text) - len(bytes.TrimLeft(text, "-"))
		if short := scale + 1 - (len(text) - sign); short > 0 {
			text = slices.Insert(text, sign, bytes.Repeat([]byte{'0'}, short)...)
		}
		text = slices.Insert(text, len(text)-scale, '.')
		text = bytes.TrimRight(bytes.TrimRight(text, "0"), ".")
	}
	c.text = text
	return text, nil
}

// units is the whole number that is stored as b; large where an int64 does not hold it.
func (c *Column) units(b []byte) (units int64, large *big.Int, err error) {
	switch c.kind {
	case int32s:
		return int64(int32(binary.LittleEndian.Uint32(b))), nil, nil
	case int64s:
		return int64(binary.LittleEndian.Uint64(b)), nil, nil
	}
	// The highest byte comes first, in two's complement.
	if len(b) == 0 || len(b) > mostDecimal {
		return 0, nil, errDecimal
	}
	sign := byte(int8(b[0]) >> 7)
	for len(b) > 1 && b[0] == sign && b[1]>>7 == sign>>7 {
		b = b[1:]
	}
	if len(b) > 8 {
		large = new(big.Int).SetBytes(b)
		if sign != 0 {
			large.Sub(large, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return 0, large, nil
	}
	units = int64(int8(sign))
	for _, x := range b {
		units = units<<8 | int64(x)
	}
	return units, nil, nil
}

// decimals puts n decimals of a fixed width from b into every stride-th place of dst.
func (c *Column) decimals(dst []float64, stride int, b []byte, n int) (err error) {
	w := len(b) / max(n, 1)
	for i := range n {
		if dst[i*stride], err = c.decimalNumber(b[i*w : (i+1)*w]); err != nil {
			return err
		}
	}
	return nil
}

// decimalStrings puts the next n decimals of any width into every stride-th place of dst.
func (c *Column) decimalStrings(dst []float64, stride, n int) error {
	for i := range n {
		b, err := c.values.string()
		if err == nil {
			dst[i*stride], err = c.decimalNumber(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
