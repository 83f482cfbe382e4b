package feature

import (
	"fmt"
	"math"
	"slices"
)

// maxProduct bounds the number of features of a basis.
const maxProduct = 1 << 20

// maxPerColumn bounds how many functions of one column a basis is made of.
const maxPerColumn = 256

// box is a set of observation columns with their public ranges: the domain of a
// basis of functions, one for each combination of one function a column.
type box struct {
	names  []string
	ranges []Range
}

func newBox(kind string, names []string, ranges []Range) (box, error) {
	if len(names) == 0 {
		return box{}, fmt.Errorf("%w: %s: no names; name at least one observation column", ErrMap, kind)
	}
	if len(ranges) != len(names) {
		return box{}, fmt.Errorf("%w: %s: %d ranges for %d names; give each column its public low and high", ErrMap, kind, len(ranges), len(names))
	}
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return box{}, fmt.Errorf("%w: %s: name %d, %q, is empty or repeated", ErrMap, kind, i, name)
		}
		if err := ranges[i].check(name); err != nil {
			return box{}, err
		}
	}
	return box{names: slices.Clone(names), ranges: slices.Clone(ranges)}, nil
}

// product is the number of combinations of per functions a column. It fails
// where there are too many.
func (b box) product(kind string, per int) (int, error) {
	n := 1
	for range b.names {
		if n *= per; n > maxProduct {
			return 0, fmt.Errorf("%w: %s: more than %d features, %d to the power of %d; lower the order, or name fewer columns",
				ErrMap, kind, maxProduct, per, len(b.names))
		}
	}
	return n, nil
}

// Columns names the columns, the first of which varies slowest over the
// features.
func (b box) Columns() []string { return slices.Clone(b.names) }

func (b box) index(columns []string) ([]int, error) {
	index := make([]int, len(b.names))
	for i, name := range b.names {
		var err error
		if index[i], err = columnIndex(columns, name); err != nil {
			return nil, err
		}
	}
	return index, nil
}

// readable reports whether every value that the box reads is a finite number.
func readable(obs []float64, index []int) bool {
	for _, j := range index {
		if math.IsNaN(obs[j]) || math.IsInf(obs[j], 0) {
			return false
		}
	}
	return true
}

// expand turns the n products in dst[:n] into n*len(factors): each becomes its
// products with all factors, in order. It works from the end, so that nothing is
// overwritten before it is read.
func expand(dst []float64, n int, factors []float64) int {
	k := len(factors)
	for i := n - 1; i >= 0; i-- {
		v := dst[i]
		for j := k - 1; j >= 0; j-- {
			dst[i*k+j] = v * factors[j]
		}
	}
	return n * k
}
