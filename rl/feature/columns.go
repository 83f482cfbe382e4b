package feature

import (
	"fmt"
	"math"
	"slices"
)

// Range is the public range of an observation column, in the column's own
// unit. Values outside are clipped to it.
type Range struct {
	Low, High float64
}

// Columns takes observation columns as they are, each scaled from its public
// range and clipped: to [0, 1], or to [-1, 1] when symmetric, optionally after
// a constant 1 (the intercept, coordinate 0). The clip makes the norm bound
// real: it is the square root of Dim.
type Columns struct {
	names     []string
	ranges    []Range
	symmetric bool
	intercept bool
}

// ColumnsOptions chooses how [NewColumns] scales.
type ColumnsOptions struct {
	// Symmetric scales to [-1, 1] instead of [0, 1].
	Symmetric bool
	// Intercept puts a constant 1 before the columns.
	Intercept bool
}

// NewColumns returns the map that reads the named columns, ranges[i] being the
// public range of names[i].
func NewColumns(names []string, ranges []Range, o ColumnsOptions) (Columns, error) {
	if err := distinct("columns", names); err != nil {
		return Columns{}, err
	}
	if len(ranges) != len(names) {
		return Columns{}, fmt.Errorf("%w: columns: %d ranges for %d names; give each column its public range", ErrMap, len(ranges), len(names))
	}
	for i, name := range names {
		if err := ranges[i].check(name); err != nil {
			return Columns{}, err
		}
	}
	return Columns{
		names:     slices.Clone(names),
		ranges:    slices.Clone(ranges),
		symmetric: o.Symmetric,
		intercept: o.Intercept,
	}, nil
}

// check wants Low < High with a width that neither overflows nor is too small
// to divide by.
func (r Range) check(name string) error {
	width := r.High - r.Low
	if !(width > 0) || math.IsInf(width, 0) || math.IsInf(1/width, 0) {
		return fmt.Errorf("%w: range of %q is %v to %v; want finite numbers, low below high", ErrMap, name, r.Low, r.High)
	}
	return nil
}

// Dim is the number of columns, and one more with an intercept.
func (c Columns) Dim() int {
	if c.intercept {
		return len(c.names) + 1
	}
	return len(c.names)
}

// Columns names the columns in the order of their coordinates.
func (c Columns) Columns() []string { return slices.Clone(c.names) }

// NormBound is the square root of Dim, rounded up: no coordinate exceeds 1.
func (c Columns) NormBound() float64 { return sqrtUp(float64(c.Dim())) }

// Bind implements [Map].
func (c Columns) Bind(columns []string) (Bound, error) {
	b := boundColumns{Columns: c, index: make([]int, len(c.names))}
	for i, name := range c.names {
		var err error
		if b.index[i], err = columnIndex(columns, name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

type boundColumns struct {
	Columns
	index []int
}

func (b boundColumns) Apply(dst, obs []float64) bool {
	if b.intercept {
		dst[0] = 1
	}
	x := dst[len(dst)-len(b.index):]
	for i, j := range b.index {
		v := obs[j]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			clear(dst)
			return false
		}
		x[i] = b.ranges[i].scale(v, b.symmetric)
	}
	return true
}

// scale maps [Low, High] to [0, 1] or [-1, 1] and clips. Clipping before the
// subtraction keeps a huge v from overflowing.
func (r Range) scale(v float64, symmetric bool) float64 {
	v = min(max(v, r.Low), r.High)
	u := (v - r.Low) / (r.High - r.Low)
	if symmetric {
		return 2*u - 1
	}
	return u
}

// sqrtUp is an upper bound on the square root of x.
func sqrtUp(x float64) float64 {
	r := math.Sqrt(x)
	if math.FMA(r, r, -x) >= 0 {
		return r
	}
	return math.Nextafter(r, math.Inf(1))
}
