// Package s3 is the [source.Store] of the scheme s3: objects are read by ranges, and no copy
// of them is on disk.
//
// Start with [Client.Session], which lasts as long as a command, or a worker's answer: within
// it an object is of one version, and another one in its place is an error. Credentials are
// those of the platform alone: the environment, a profile, the role of a machine or a pod.
package s3

import (
	"errors"

	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors.
var (
	// ErrName marks what is no name of an object.
	ErrName = fault.Input("invalid name of an object")
	// ErrChanged marks an object that is of another version than at first.
	ErrChanged = fault.Input("object was changed while it was in use")
	// ErrAccess marks what the store refuses.
	ErrAccess = fault.Input("no access")
	// ErrStore marks a store that does not answer.
	ErrStore = errors.New("object store failed")
)
