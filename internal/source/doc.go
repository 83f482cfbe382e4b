// Package source opens data by name: a file of this machine, or, where a program brings a
// [Store] in its context ([With]), an object such as s3://bucket/key.
//
// Start with [Find], which lists what a path, a glob or a directory stands for, and [Open].
package source

import "github.com/discreet-rl/discreet/internal/fault"

// Sentinel errors.
var (
	// ErrScheme marks a name that this program has no store for.
	ErrScheme = fault.Input("data that this program does not reach")
	// ErrDirectory marks a directory whose files are not, all of them, the data.
	ErrDirectory = fault.Input("not a directory of data")
)
