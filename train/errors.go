package train

import (
	"errors"

	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. Everything this package returns wraps one of them, one of the
// packages that it calls, or the context's.
var (
	// ErrConfig marks settings that are out of range or contradict each other.
	ErrConfig = fault.Input("invalid training settings")
	// ErrTask marks a task that an agent refuses.
	ErrTask = errors.New("task refused")
	// ErrDiverged marks weights that grew beyond all bounds.
	ErrDiverged = errors.New("training diverged")
	// ErrState marks a snapshot or a log that does not belong to the run or is
	// damaged.
	ErrState = fault.Input("unusable training state")
)
