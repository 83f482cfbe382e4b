package feature

import "fmt"

// Aggregation lets Of neighbouring states share one feature: phi(s) is the unit
// vector e_(s/Of). The last group is smaller when Of does not divide the number
// of states. Its norm bound is 1.
type aggregation struct {
	states, of int
	column     string
}

// NewAggregation returns the map that groups states 0 to states-1, whose number
// is held by the named observation column, in groups of size of.
func NewAggregation(states, of int, column string) (Finite, error) {
	if err := checkStates("aggregate", states, column); err != nil {
		return nil, err
	}
	if of < 1 || of > states {
		return nil, fmt.Errorf("%w: aggregate: of is %d; want 1 to the number of states, %d", ErrMap, of, states)
	}
	return aggregation{states: states, of: of, column: column}, nil
}

// Dim is the number of groups, the number of states over Of, rounded up.
func (a aggregation) Dim() int { return (a.states + a.of - 1) / a.of }

// Columns names the one column that holds the state number.
func (a aggregation) Columns() []string { return []string{a.column} }

// NormBound is 1.
func (a aggregation) NormBound() float64 { return 1 }

// States is the number of states, before grouping.
func (a aggregation) States() int { return a.states }

// Of is the number of states in a group.
func (a aggregation) Of() int { return a.of }

// Cell returns the group of state.
func (a aggregation) Cell(state int) int { return state / a.of }

// Bind implements [Map].
func (a aggregation) Bind(columns []string) (Bound, error) {
	r, err := a.BindState(columns)
	if err != nil {
		return nil, err
	}
	return oneHot{r, a.Cell}, nil
}

// BindState implements [Finite].
func (a aggregation) BindState(columns []string) (StateReader, error) {
	i, err := columnIndex(columns, a.column)
	return StateReader{column: i, states: a.states}, err
}
