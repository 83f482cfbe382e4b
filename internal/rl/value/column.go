package value

import "math"

// column is a column of numbers in memory that is as narrow as their variety: one number
// where all are alike, a byte a row where there are at most mostCodes, else the numbers.
// Numbers come back bit for bit.
type column struct {
	values []float64
	codes  []uint8 // places in values; nil where values are one, or those of all rows
}

const (
	mostCodes = 1 << 8
	// places is the size of the table of numbers seen, of 1<<placeBits.
	placeBits = 10
	places    = 1 << placeBits
)

// narrow makes a column of n numbers of x, from the first on, stride apart.
func narrow(x []float64, first, stride, n int) column {
	var table [places]uint16 // 1 + the place in values
	codes := make([]uint8, n)
	var values []float64
	last, code := uint64(0), uint8(0)
	for i := range codes {
		bits := math.Float64bits(x[first+i*stride])
		if bits == last && i > 0 {
			codes[i] = code
			continue
		}
		h := bits * 0x9e3779b97f4a7c15 >> (64 - placeBits)
		for table[h] != 0 && math.Float64bits(values[table[h]-1]) != bits {
			h = (h + 1) % places
		}
		if table[h] == 0 {
			if len(values) == mostCodes {
				return wide(x, first, stride, n)
			}
			values = append(values, x[first+i*stride])
			table[h] = uint16(len(values))
		}
		last, code = bits, uint8(table[h]-1)
		codes[i] = code
	}
	if len(values) == 1 {
		codes = nil
	}
	return column{values, codes}
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
	case c.codes != nil:
		for i, code := range c.codes {
			x[first+i*stride] = c.values[code]
		}
	case len(c.values) == 1:
		for i := range n {
			x[first+i*stride] = c.values[0]
		}
	default:
		for i, v := range c.values {
			x[first+i*stride] = v
		}
	}
}

// narrowed are the columns of a table of the given width, nil of none.
func narrowed(x []float64, width int) []column {
	if x == nil {
		return nil
	}
	out := make([]column, width)
	for i := range out {
		out[i] = narrow(x, i, width, len(x)/width)
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
