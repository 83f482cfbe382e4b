package cli

import (
	"errors"
	"io/fs"

	"github.com/discreet-rl/discreet/internal/fault"
)

// exitCode maps an error to the code that scripts go by. Packages say themselves
// what class their errors have.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	switch fault.Of(err) {
	case fault.RefusedFault:
		return exitBudget
	case fault.InputFault:
		return exitInput
	case fault.None:
		if errors.Is(err, fs.ErrNotExist) { // a file that the caller named
			return exitInput
		}
	}
	return exitFailed
}
