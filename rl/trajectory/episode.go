package trajectory

import (
	"math"
	"slices"
)

// Episode is one episode as it is streamed. Its slices are reused: they hold
// until the next call of the reader that gave them. One without a decision stands
// for an episode that was left out ([Options.Repair]): it names its person, and its
// columns and parts are those of the others.
type Episode struct {
	// Person numbers the person, from 0 in order of first appearance.
	Person int
	// File numbers the file, and Row is the row of the first decision in it, as
	// in [InputError].
	File, Row int
	// Number numbers the episode's name among those of [Builder.Named], from 0;
	// -1 when it is named by its row.
	Number int

	// Columns names the observation columns.
	Columns []string
	// Obs holds len(Columns) values a decision; the other slices hold one value a
	// decision, Actions values for ActionProbs. See [Dataset].
	Obs          []float64
	Action       []int32
	Reward       []float64
	BehaviorProb []float64
	ActionProbs  []float64
	Actions      int
	TargetProb   []float64
	Discount     []float64

	// Lacks is a set of what is not known of an episode that was kept ([Options.Keep]):
	// 1 its steps, 2 whether it terminated, 4 whether it was truncated. An action that is not
	// known is -1.
	Lacks uint8

	// Terminated tells whether the episode ended by the problem's own rule.
	Terminated bool
	// EndUnknown tells that the source does not say how episodes end; then
	// Terminated is false.
	EndUnknown bool
	// Final holds the len(Columns) values observed after the last decision; nil
	// when unknown. Of an episode that was left out it holds what its rows had in common
	// ([Episode.Common]).
	Final []float64
}

// Len is the number of decisions.
func (e *Episode) Len() int { return len(e.Reward) }

// Common is, column by column, the value that all rows observe, NaN where they differ; nil
// where there are no rows, or no columns.
func (e *Episode) Common() []float64 {
	w := len(e.Columns)
	if w == 0 || len(e.Obs) == 0 {
		return nil
	}
	out := slices.Clone(e.Obs[:w])
	for i, v := range e.Obs[w:] {
		if out[i%w] != v {
			out[i%w] = math.NaN()
		}
	}
	return out
}
