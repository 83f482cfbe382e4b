package device

import (
	"errors"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/fleet"
)

// Sentinel errors.
var (
	// ErrConfig marks settings by which no device can be run.
	ErrConfig = fault.Input("invalid settings of a device")
	// ErrConsent marks a run or round that is not what the owner consented to.
	ErrConsent = fleet.ErrConsent
	// ErrWallet marks a wallet that is gone, or older than what the device knows that it paid.
	ErrWallet = errors.New("the wallet is not what it was")
	// ErrIdentity marks a device that is not enrolled, or an answer that does not enrol it.
	ErrIdentity = errors.New("not enrolled")
	// ErrExpired marks a device whose certificate has ended.
	ErrExpired = fault.Input("away for too long")
	// ErrRunLost marks a server whose rounds are not those that the device was shown.
	ErrRunLost = fault.Refused("the run is lost for this device")
	// ErrClock marks a clock that is more than five minutes from the server's.
	ErrClock = errors.New("clocks differ")
	// ErrClient marks a run that asks for a newer version of the agent.
	ErrClient = fault.Input("the agent is too old for the run")
	// errRevoked marks a device whose certificate the operator has revoked.
	errRevoked = fault.Refused("the operator has revoked this device")
	// errCopied marks a device whose state is in use elsewhere.
	errCopied = fault.Refused("another copy of this device has drawn a permit")
	// errMachine marks a state that was begun on another machine.
	errMachine = fault.Refused("the device's state is of another machine")
	// errServer marks a server that is older than the agent.
	errServer = fault.Input("the server is too old for this agent")
	// errLearner marks an answer of a learner that cannot be reported.
	errLearner = errors.New("unusable answer of the learner")
)
