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

// columns takes observation columns as they are, each scaled from its public
// range and clipped: to [0, 1], or to [-1, 1] when symmetric, optionally after
// a constant 1 (the intercept, coordinate 0), and optionally followed by products
// of columns (interactions). A product is of the scaled and clipped values, so that
// it lies in the same range as they do, whatever the signs. The clip makes the norm
// bound real: it is the square root of Dim.
type columns struct {
	names     []string
	ranges    []Range
	products  [][]int // places in names
	symmetric bool
	intercept bool
}

// ColumnsOptions chooses how [NewColumns] scales.
type ColumnsOptions struct {
	// Symmetric scales to [-1, 1] instead of [0, 1].
	Symmetric bool
	// Intercept puts a constant 1 before the columns.
	Intercept bool
	// Products lists the names whose product is a feature of its own, after the
	// columns.
	Products [][]string
}

// NewColumns returns the map that reads the named columns, ranges[i] being the
// public range of names[i].
func NewColumns(names []string, ranges []Range, o ColumnsOptions) (Map, error) {
	if err := distinct("columns", names); err != nil {
		return nil, err
	}
	if len(ranges) != len(names) {
		return nil, fmt.Errorf("%w: columns: %d ranges for %d names; give each column its public range", ErrMap, len(ranges), len(names))
	}
	for i, name := range names {
		if err := ranges[i].check(name); err != nil {
			return nil, err
		}
	}
	products, err := places(names, o.Products)
	if err != nil {
		return nil, err
	}
	return columns{
		names:     slices.Clone(names),
		ranges:    slices.Clone(ranges),
		products:  products,
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

// places finds the columns of each product among the names. Two products of the same
// columns would be one feature twice.
func places(names []string, products [][]string) ([][]int, error) {
	place := make(map[string]int, len(names))
	for i, name := range names {
		place[name] = i
	}
	var out [][]int
	seen := map[string]int{}
	for k, product := range products {
		if len(product) < 2 {
			return nil, fmt.Errorf("%w: columns: product %d is of %q; name two columns or more", ErrMap, k+1, product)
		}
		var of []int
		for _, name := range product {
			i, ok := place[name]
			switch {
			case !ok:
				return nil, fmt.Errorf("%w: columns: product %d is of %q, which is not among names; add it there with its public range", ErrMap, k+1, name)
			case slices.Contains(of, i):
				return nil, fmt.Errorf("%w: columns: product %d is of %q twice; for powers use kind polynomial", ErrMap, k+1, name)
			}
			of = append(of, i)
		}
		key := fmt.Sprint(slices.Sorted(slices.Values(of)))
		if first, twice := seen[key]; twice {
			return nil, fmt.Errorf("%w: columns: products %d and %d are of the same columns; leave one out", ErrMap, first, k+1)
		}
		seen[key] = k + 1
		out = append(out, of)
	}
	return out, nil
}

// Dim is the number of columns and products, and one more with an intercept.
func (c columns) Dim() int {
	n := len(c.names) + len(c.products)
	if c.intercept {
		n++
	}
	return n
}

// Columns names the columns in the order of their coordinates.
func (c columns) Columns() []string { return slices.Clone(c.names) }

// Ranges are those of the columns, in their order; nil where features are not the columns
// alone.
func (c columns) Ranges() []Range {
	if c.intercept || len(c.products) > 0 {
		return nil
	}
	return slices.Clone(c.ranges)
}

// NormBound is the square root of Dim, rounded up: no coordinate exceeds 1.
func (c columns) NormBound() float64 { return sqrtUp(float64(c.Dim())) }

// Bind implements [Map].
func (c columns) Bind(layout []string) (Bound, error) {
	b := boundColumns{columns: c, index: make([]int, len(c.names))}
	for i, name := range c.names {
		var err error
		if b.index[i], err = columnIndex(layout, name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

type boundColumns struct {
	columns
	index []int
}

func (b boundColumns) Apply(dst, obs []float64) bool {
	x := dst
	if b.intercept {
		dst[0], x = 1, dst[1:]
	}
	for i, j := range b.index {
		v := obs[j]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			clear(dst)
			return false
		}
		x[i] = b.ranges[i].scale(v, b.symmetric)
	}
	for k, of := range b.products {
		p := 1.0
		for _, i := range of {
			p *= x[i]
		}
		x[len(b.index)+k] = p
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
