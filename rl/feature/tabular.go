package feature

import "fmt"

// maxDim bounds the length of a feature vector, so that a mistyped number is
// an error and not an exhausted memory.
const maxDim = 1 << 24

// tabular gives every state its own feature: phi(s) is the unit vector e_s. Its
// norm bound is 1.
type tabular struct {
	states int
	column string
}

// NewTabular returns the tabular map over states 0 to states-1, whose number is
// held by the named observation column.
func NewTabular(states int, column string) (Finite, error) {
	if err := checkStates("tabular", states, column); err != nil {
		return nil, err
	}
	return tabular{states: states, column: column}, nil
}

// Dim is the number of states.
func (t tabular) Dim() int { return t.states }

// Columns names the one column that holds the state number.
func (t tabular) Columns() []string { return []string{t.column} }

// NormBound is 1.
func (t tabular) NormBound() float64 { return 1 }

// States is the number of states.
func (t tabular) States() int { return t.states }

// Cell returns state itself.
func (t tabular) Cell(state int) int { return state }

// Bind implements [Map].
func (t tabular) Bind(columns []string) (Bound, error) {
	r, err := t.BindState(columns)
	if err != nil {
		return nil, err
	}
	return oneHot{r, t.Cell}, nil
}

// BindState implements [Finite].
func (t tabular) BindState(columns []string) (StateReader, error) {
	i, err := columnIndex(columns, t.column)
	return StateReader{column: i, states: t.states}, err
}

func checkStates(kind string, states int, column string) error {
	if states < 1 || states > maxDim {
		return fmt.Errorf("%w: %s: states is %d; want 1 to %d", ErrMap, kind, states, maxDim)
	}
	if column == "" {
		return fmt.Errorf("%w: %s: column is missing; name the observation column that holds the state number", ErrMap, kind)
	}
	return nil
}
