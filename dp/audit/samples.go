package audit

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. Everything this package returns wraps one of them or one of
// packages dp and dp/account.
var (
	// ErrSamples marks samples that cannot be used.
	ErrSamples = fault.Input("invalid samples")
	// ErrOptions marks options out of range.
	ErrOptions = fault.Input("invalid options of an audit")
	// ErrBroken marks a mechanism that shows more than its event allows.
	ErrBroken = errors.New("the mechanism shows more than its event allows")
)

const (
	// fewest samples of a world, and most of both.
	fewest = 20
	most   = 100_000_000
	// A quarter of the samples of a world choose the test, but of more than pilots a tenth.
	pilots = 5000
	// mostColumns bounds the fits of discriminants.
	mostColumns = 256
)

// Samples are outcomes of a mechanism on two neighbouring datasets, the worlds 0 and 1.
// All have the same number of values.
type Samples struct {
	// Worlds holds, by world, one outcome a run.
	Worlds [2][][]float64
	// Columns names the values; nil where they have no names.
	Columns []string
}

// Draw runs a mechanism a number of times in each world. release returns the values
// of a fresh run, in a slice of its own.
func Draw(runs int, release func(world int) []float64) Samples {
	var s Samples
	for world := range s.Worlds {
		s.Worlds[world] = make([][]float64, runs)
		for i := range runs {
			s.Worlds[world][i] = release(world)
		}
	}
	return s
}

// DrawNumbers is [Draw] for a mechanism that releases one number.
func DrawNumbers(runs int, release func(world int) float64) Samples {
	all := make([]float64, 2*runs)
	return Draw(runs, func(world int) []float64 {
		at := all[:1:1]
		all = all[1:]
		at[0] = release(world)
		return at
	})
}

func (s Samples) validate() error {
	columns := -1
	total := 0
	for world, outcomes := range s.Worlds {
		if len(outcomes) < fewest {
			return fmt.Errorf("%w: %d outcomes of world %d; want at least %d, and thousands to find anything", ErrSamples, len(outcomes), world, fewest)
		}
		total += len(outcomes)
		for run, x := range outcomes {
			if columns < 0 {
				columns = len(x)
			}
			if len(x) != columns {
				return fmt.Errorf("%w: world %d, run %d: %d values where the first has %d", ErrSamples, world, run, len(x), columns)
			}
			for _, v := range x {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("%w: world %d, run %d: %v; code what is not a finite number as a column of its own", ErrSamples, world, run, v)
				}
			}
		}
	}
	switch {
	case columns < 1 || columns > mostColumns:
		return fmt.Errorf("%w: %d values a run; want 1 to %d", ErrSamples, columns, mostColumns)
	case total > most:
		return fmt.Errorf("%w: %d outcomes; want at most %d", ErrSamples, total, most)
	}
	return nil
}

// split parts the samples of each world into those that choose the test and those
// that count, by a permutation that is fixed beforehand and knows no values: so the
// parts are independent also where a file has its outcomes in order.
func (s Samples) split() (choose, count Samples) {
	src := noise.NewSeeded(splitSeed)
	for world, outcomes := range s.Worlds {
		mixed := make([][]float64, len(outcomes))
		copy(mixed, outcomes)
		for i := len(mixed) - 1; i > 0; i-- {
			j := int(src.Uint64n(uint64(i + 1)))
			mixed[i], mixed[j] = mixed[j], mixed[i]
		}
		n := choosing(len(mixed))
		choose.Worlds[world], count.Worlds[world] = mixed[:n], mixed[n:]
	}
	choose.Columns, count.Columns = s.Columns, s.Columns
	return choose, count
}

// choosing is how many of the runs of a world choose the test.
func choosing(runs int) int { return min(runs/4, max(pilots, runs/10)) }

// halves parts samples that choose: a number that is fitted on the first half shows on
// the second what it is worth.
func (s Samples) halves() (fit, compare Samples) {
	for world, outcomes := range s.Worlds {
		fit.Worlds[world], compare.Worlds[world] = outcomes[:len(outcomes)/2], outcomes[len(outcomes)/2:]
	}
	fit.Columns, compare.Columns = s.Columns, s.Columns
	return fit, compare
}

// splitSeed makes the same samples always get the same answer.
const splitSeed = 20230518

// column names a value.
func (s Samples) column(i int) string {
	if i < len(s.Columns) {
		return s.Columns[i]
	}
	return fmt.Sprintf("value %d", i)
}
