package dp

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Sentinel errors. Everything this package returns wraps one of them.
var (
	// ErrAdjacency marks an adjacency that is missing or unknown.
	ErrAdjacency = fault.Input("invalid adjacency")
	// ErrBudget marks an (epsilon, delta) outside its range.
	ErrBudget = fault.Input("invalid budget")
	// ErrEvent marks an event whose parameters are out of range or whose JSON
	// is not of the documented form.
	ErrEvent = fault.Input("invalid event")
)

// Adjacency says which two datasets are neighbours. The zero value is invalid,
// so that an adjacency is always chosen and never assumed.
type Adjacency int

const (
	// ReplaceOne: one person's record is exchanged for another's. The number of
	// persons is public.
	ReplaceOne Adjacency = iota + 1
	// AddRemoveOne: one person's record is added or removed. The number of
	// persons is private.
	AddRemoveOne
)

// String returns the name used in JSON and YAML: "replace_one" or
// "add_remove_one".
func (a Adjacency) String() string {
	switch a {
	case ReplaceOne:
		return "replace_one"
	case AddRemoveOne:
		return "add_remove_one"
	}
	return fmt.Sprintf("Adjacency(%d)", int(a))
}

// Valid reports whether a is one of the defined adjacencies.
func (a Adjacency) Valid() bool { return a == ReplaceOne || a == AddRemoveOne }

// ParseAdjacency is the inverse of [Adjacency.String].
func ParseAdjacency(s string) (Adjacency, error) {
	switch s {
	case "replace_one":
		return ReplaceOne, nil
	case "add_remove_one":
		return AddRemoveOne, nil
	}
	return 0, fmt.Errorf("%w: %q; want replace_one or add_remove_one", ErrAdjacency, s)
}

// MarshalText implements [encoding.TextMarshaler].
func (a Adjacency) MarshalText() ([]byte, error) {
	if !a.Valid() {
		return nil, fmt.Errorf("%w: %v", ErrAdjacency, a)
	}
	return []byte(a.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *Adjacency) UnmarshalText(text []byte) error {
	parsed, err := ParseAdjacency(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// SumSensitivity is the sensitivity of a sum to which every person adds a
// vector of norm at most clip: clip when a person is added or removed, twice
// the clip when one is replaced.
func (a Adjacency) SumSensitivity(clip float64) float64 {
	if a == ReplaceOne {
		return 2 * clip
	}
	return clip
}

// Budget is a pair (epsilon, delta) of approximate differential privacy.
type Budget struct {
	Epsilon float64 `json:"epsilon" yaml:"epsilon"`
	Delta   float64 `json:"delta" yaml:"delta"`
}

// Validate checks that epsilon is positive and finite and 0 <= delta < 1. A delta above 0
// is a normal float64: smaller ones lack the digits for bounds on the safe side.
func (b Budget) Validate() error {
	if !(b.Epsilon > 0) || math.IsInf(b.Epsilon, 0) {
		return fmt.Errorf("%w: epsilon is %v; want a finite number above 0", ErrBudget, b.Epsilon)
	}
	if !(b.Delta >= 0 && b.Delta < 1) {
		return fmt.Errorf("%w: delta is %v; want 0 <= delta < 1, and far below 1/persons", ErrBudget, b.Delta)
	}
	if b.Delta > 0 && b.Delta < xmath.SmallestNormal {
		return fmt.Errorf("%w: delta is %v; want 0, or %v at least", ErrBudget, b.Delta, xmath.SmallestNormal)
	}
	return nil
}
