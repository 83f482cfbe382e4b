// Package parquetfault turns what is wrong with a Parquet file into an error of
// trajectories, for every format that is made of such files.
package parquetfault

import (
	"errors"

	"github.com/discreet-rl/discreet/internal/parquet"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Error names the file and gives an error of internal/parquet the kinds of
// package trajectory. Other errors are returned as they are.
func Error(file string, err error) error {
	var e *parquet.Error
	if !errors.As(err, &e) {
		return err
	}
	kind := trajectory.ErrFormat
	switch e.Kind {
	case parquet.ErrEmpty:
		kind = trajectory.ErrEmpty
	case parquet.ErrColumn, parquet.ErrText:
		kind = trajectory.ErrColumn
	case parquet.ErrValue:
		kind = trajectory.ErrValue
	}
	return &trajectory.InputError{File: file, Row: e.Row, Column: e.Column, What: e.What, Remedy: e.Remedy, Kind: kind, Cause: err}
}

// Advised is [Error] about a column that was picked: if it is text where numbers are
// wanted, the pick's advice comes first.
func Advised(file string, p table.Pick, err error) error {
	out := Error(file, err)
	var input *trajectory.InputError
	if errors.As(out, &input) && errors.Is(err, parquet.ErrText) {
		input.Remedy = p.Advise(input.Remedy)
	}
	return out
}
