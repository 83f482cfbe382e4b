package feature

import (
	"fmt"
	"math"
	"slices"
)

// Raw takes observation columns as they are: neither scaled nor clipped. No norm
// bound holds for it, so that it serves policies, which are public functions, and
// not an estimator's sums.
type Raw struct{ names []string }

// NewRaw returns the map that reads the named columns.
func NewRaw(names []string) (Raw, error) {
	if err := distinct("raw", names); err != nil {
		return Raw{}, err
	}
	return Raw{slices.Clone(names)}, nil
}

// distinct wants at least one name, and none empty or repeated.
func distinct(kind string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("%w: %s: no names; name at least one observation column", ErrMap, kind)
	}
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return fmt.Errorf("%w: %s: name %d, %q, is empty or repeated", ErrMap, kind, i, name)
		}
	}
	return nil
}

// Dim is the number of columns.
func (r Raw) Dim() int { return len(r.names) }

// Columns names the columns in the order of their coordinates.
func (r Raw) Columns() []string { return slices.Clone(r.names) }

// NormBound is +Inf.
func (r Raw) NormBound() float64 { return math.Inf(1) }

// Bind implements [Map].
func (r Raw) Bind(columns []string) (Bound, error) {
	b := boundRaw{index: make([]int, len(r.names))}
	for i, name := range r.names {
		var err error
		if b.index[i], err = columnIndex(columns, name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

type boundRaw struct{ index []int }

func (b boundRaw) Apply(dst, obs []float64) bool {
	for i, j := range b.index {
		if math.IsNaN(obs[j]) || math.IsInf(obs[j], 0) {
			clear(dst)
			return false
		}
		dst[i] = obs[j]
	}
	return true
}
