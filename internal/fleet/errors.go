package fleet

import (
	"errors"

	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. A device that meets one has spent nothing.
var (
	// ErrConfig marks settings that make no run or round.
	ErrConfig = fault.Input("invalid fleet settings")
	// ErrSpec marks a spec that is not signed by whom it should be, or is not in order.
	ErrSpec = errors.New("spec refused")
	// ErrFork marks a spec that is signed and does not continue the chain that is known: somebody was shown another one.
	ErrFork = errors.New("spec is of another chain")
	// ErrConsent marks a run or round that is not what the owner consented to.
	ErrConsent = fault.Refused("the owner did not consent to this")
	// ErrWeights marks weights that are not those of the spec.
	ErrWeights = errors.New("weights refused")
	// ErrReport marks a report that cannot be opened or has another form.
	ErrReport = errors.New("report refused")
)
