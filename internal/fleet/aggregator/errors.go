package aggregator

import (
	"errors"

	"github.com/discreet-rl/discreet/internal/fault"
)

var (
	// ErrConfig marks settings with which no aggregator can run.
	ErrConfig = fault.Input("invalid aggregator settings")
	// ErrKeys marks a directory of keys that is not whole.
	ErrKeys = fault.Input("unusable fleet keys")
	// ErrDiverged marks weights that grew beyond all bounds.
	ErrDiverged = errors.New("training diverged")
)
