package feature

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. Everything this package returns wraps one of them.
var (
	// ErrMap marks parameters that define no feature map.
	ErrMap = fault.Input("invalid feature map")
	// ErrColumn marks an observation column that the data does not have.
	ErrColumn = fault.Input("observation column not found")
	// ErrObservation marks a row that the map cannot read. Errors that wrap it
	// name rows of private data and are for the curator alone.
	ErrObservation = fault.Input("observation outside the feature map")
)

// Map is a feature map phi from observations to vectors. It is immutable.
type Map interface {
	// Dim is the length n of phi(s), at least 1.
	Dim() int
	// Columns names the observation columns that the map reads.
	Columns() []string
	// NormBound is a public bound on the l2 norm of phi(s) over all
	// observations whatsoever, rounded up; +Inf when there is none.
	NormBound() float64
	// Bind ties the map to rows whose values are those of columns, in that
	// order. It fails with ErrColumn when one of Columns is not among them.
	Bind(columns []string) (Bound, error)
}

// Bound is a map tied to one layout of rows. It keeps no state and may be used
// by many goroutines.
type Bound interface {
	// Apply writes phi(obs) to dst, of length Dim. obs is a row in the layout
	// that the map was bound to. When obs cannot be read, dst becomes the zero
	// vector and Apply returns false.
	Apply(dst, obs []float64) bool
}

// Finite is a map over states numbered 0 to States()-1 whose features are
// one-hot: phi(s) is 1 at Cell(s) and 0 elsewhere. Estimators use it to skip
// the zeros.
type Finite interface {
	Map
	// States is the number of states.
	States() int
	// Cell is the coordinate of phi(state) that is 1, for 0 <= state < States().
	Cell(state int) int
	// BindState is Bind for the state number alone.
	BindState(columns []string) (StateReader, error)
}

// StateReader reads the state number from a row of one layout.
type StateReader struct {
	column, states int
}

// State returns the state number in a row, or -1 and false when the row holds
// none: a missing value, a fraction, a number outside 0 to States()-1.
func (r StateReader) State(obs []float64) (int, bool) {
	x := obs[r.column]
	// NaN fails the first comparison.
	if !(x >= 0 && x < float64(r.states)) {
		return -1, false
	}
	s := int(x)
	if float64(s) != x {
		return -1, false
	}
	return s, true
}

// columnIndex returns where name stands among columns.
func columnIndex(columns []string, name string) (int, error) {
	if i := slices.Index(columns, name); i >= 0 {
		return i, nil
	}
	have := "none"
	if len(columns) > 0 {
		have = strings.Join(columns, ", ")
	}
	return 0, fmt.Errorf("%w: %q; the data has %s; name one of these in the feature map, or map the column", ErrColumn, name, have)
}

// oneHot is the bound form of every Finite map.
type oneHot struct {
	StateReader
	cell func(state int) int
}

func (b oneHot) Apply(dst, obs []float64) bool {
	clear(dst)
	s, ok := b.State(obs)
	if ok {
		dst[b.cell(s)] = 1
	}
	return ok
}
