package value

import (
	"math"
	"slices"
)

// column is a column of numbers in memory that is as narrow as their variety: one number
// where all are alike, up to 8 bits a row where there are at most mostCodes, else the numbers.
// Numbers come back bit for bit.
type column struct {
	values []float64
	codes  []uint8 // places in values, of so many bits each; nil where values are one, or those of all rows
	bits   int
}

const (
	mostCodes = 1 << 8
	// places is the size of the table of numbers seen, of 1<<placeBits.
	placeBits = 10
	places    = 1 << placeBits
)

// coder finds the numbers of a column. It keeps its memory.
type coder struct {
	table [places]uint16 // 1 + the place in values
	codes []uint8
}

// narrow makes a column of n numbers of x, from the first on, stride apart.
func (k *coder) narrow(x []float64, first, stride, n int) column {
	clear(k.table[:])
	k.codes = room(k.codes, n)
	values := make([]float64, 0, 16)
	for i := range k.codes {
		v := x[first+i*stride]
		bits := math.Float64bits(v)
		h := bits * 0x9e3779b97f4a7c15 >> (64 - placeBits)
		for k.table[h] != 0 && math.Float64bits(values[k.table[h]-1]) != bits {
			h = (h + 1) % places
		}
		if k.table[h] == 0 {
			if len(values) == mostCodes {
				return wide(x, first, stride, n)
			}
			values = append(values, v)
			k.table[h] = uint16(len(values))
		}
		k.codes[i] = uint8(k.table[h] - 1)
	}
	return column{values, squeezed(k.codes, len(values)), widthOf(len(values))}
}

// widthOf is how many bits a code of so many has: 0, 1, 2, 4 or 8.
func widthOf(codes int) int {
	width := 0
	for 1<<width < codes {
		width = max(1, 2*width)
	}
	return width
}

// squeezed are codes, of which there are so many, in as few bytes as they need.
func squeezed(codes []uint8, of int) []uint8 {
	width := widthOf(of)
	if width == 0 {
		return nil
	}
	if width == 8 {
		return slices.Clone(codes)
	}
	each := 8 / width
	out := make([]uint8, (len(codes)+each-1)/each)
	for i := range out {
		some, all := codes[i*each:min((i+1)*each, len(codes))], uint8(0)
		for j := len(some) - 1; j >= 0; j-- {
			all = all<<width | some[j]
		}
		out[i] = all
	}
	return out
}

// wide is a column of the numbers themselves.
func wide(x []float64, first, stride, n int) column {
	c := column{values: make([]float64, n)}
	for i := range c.values {
		c.values[i] = x[first+i*stride]
	}
	return c
}

// widen writes the n numbers of the column to x, from the first on, stride apart.
func (c column) widen(x []float64, first, stride, n int) {
	switch {
	case c.bits == 8:
		at := first
		for _, code := range c.codes {
			x[at] = c.values[code]
			at += stride
		}
	case c.codes != nil:
		each, mask := 8/c.bits, uint8(1<<c.bits-1)
		for i, at := 0, first; i < n; i += each {
			code := c.codes[i/each]
			for range min(each, n-i) {
				x[at] = c.values[code&mask]
				code >>= c.bits
				at += stride
			}
		}
	case len(c.values) == 1:
		for i := range n {
			x[first+i*stride] = c.values[0]
		}
	default:
		at := first
		for _, v := range c.values {
			x[at] = v
			at += stride
		}
	}
}

// narrowed are the columns of a table of the given width, nil of none.
func (k *coder) narrowed(x []float64, width int) []column {
	if x == nil {
		return nil
	}
	out := make([]column, width)
	for i := range out {
		out[i] = k.narrow(x, i, width, len(x)/width)
	}
	return out
}

// widened is the table of columns with so many rows, in the memory of dst; nil of none.
func widened(dst []float64, columns []column, rows int) []float64 {
	if columns == nil {
		return nil
	}
	dst = room(dst, rows*len(columns))
	for i, c := range columns {
		c.widen(dst, i, len(columns), rows)
	}
	return dst
}

// room is a slice of length n, which is never nil, in the memory of x where that has room.
func room[T any](x []T, n int) []T {
	switch {
	case x == nil:
		return make([]T, n)
	case n > cap(x):
		return make([]T, n, n+n/8)
	}
	return x[:n]
}
