package scan

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
)

// Memory is about how much memory an evaluation takes, of data as docs/results/scale.md has them: with
// whole numbers as ids, and of a row one observation.
type Memory struct {
	Rows    int64 `json:"rows"`
	Persons int64 `json:"persons"`
	Bytes   int64 `json:"bytes"`
	// Kept is what is kept of the data: numbers, packed rows or all rows.
	Kept string `json:"kept"`
}

// What is kept of the data.
const (
	Numbers    = "numbers"
	PackedRows = "packed rows"
	AllRows    = "all rows"
)

// Bytes were measured, of the peak of resident memory.
const (
	programBytes  = 36e6
	nameBytes     = 8.    // of a person, whatever is kept
	estimateBytes = 9.5   // of a row, to estimate probabilities of logged actions
	columnBytes   = 10.   // of a row, of a further observation with many values
	fewBytes      = 2.    // of a row, below which none is kept
	sortedBytes   = 125.  // of a row that is put in order
	mostSorted    = 155e6 // of all of these; more are on disk
)

// keptBytes are those of a person, for each policy, and of a row, by method. A method that is not among
// them, such as one's own, is taken for dp-learn, which keeps most.
var keptBytes = map[string][2]float64{
	"dp-is": {22, .2}, "dp-pdis": {22, .2}, "dp-wis": {22, .2}, "dp-dr": {33.5, 2.4}, "dp-distribution": {17.5, 2.4},
	"dp-fqe": {38, 6.2}, "dp-refine": {17.5, 2.8}, "dp-lsw": {6.5, .8}, "dp-lsl": {8, .4}, "dp-experiment": {134, 0}, "dp-survival": {172, 0},
	"dp-learn": {109, 4.8},
}

// allBytes are those of methods that hold all rows.
var allBytes = [2]float64{180, 108.6}

// MemoryOf says how much memory an evaluation of so many rows takes.
func MemoryOf(c config.Config, plan *evaluate.Plan, rows int64) (Memory, error) {
	s, err := spec.New(c)
	if err != nil {
		return Memory{}, err
	}
	m := Memory{Rows: rows, Persons: c.Problem.Persons, Kept: Numbers}
	if rows < 1 || m.Persons < 1 {
		return m, fmt.Errorf("%w: memory follows from the numbers of rows and of persons: %d and %d; give both, above 0", config.ErrConfig, rows, m.Persons)
	}
	each, ok := keptBytes[plan.Method]
	if !ok {
		each = keptBytes["dp-learn"]
	}
	person, row := nameBytes+max(each[0]-nameBytes, 0)*float64(max(len(s.Policies()), 1)), each[1]
	if s.Public.Behavior != nil {
		row += estimateBytes
	}
	if plan.Gather() == nil {
		person, row, m.Kept = allBytes[0], allBytes[1], AllRows
	} else if row > fewBytes {
		m.Kept = PackedRows
	}
	if f := s.Public.Features; f != nil && row > fewBytes {
		row += columnBytes * float64(max(len(f.Columns())-1, 0))
	}
	bytes := programBytes + person*float64(m.Persons) + row*float64(rows)
	if s.Reading.Steps.Sort {
		bytes += min(sortedBytes*float64(rows), mostSorted)
	}
	if bytes >= math.MaxInt64 {
		return m, fmt.Errorf("%w: no machine has memory for %d rows of %d persons; give their numbers", config.ErrConfig, rows, m.Persons)
	}
	m.Bytes = int64(bytes)
	return m, nil
}
