package service

import (
	"errors"

	"github.com/discreet-rl/discreet/internal/fault"
)

var (
	// ErrConfig marks settings with which no service can be run.
	ErrConfig = fault.Input("invalid service settings")
	// ErrAnonymous marks a request that says of nobody that it is theirs.
	ErrAnonymous = errors.New("nobody is identified")
	// ErrAway marks an identity that cannot be looked up at the moment: the same request may be made
	// again.
	ErrAway = errors.New("who asks cannot be looked up at the moment")
	// ErrRevoked marks an identity that was taken back.
	ErrRevoked = errors.New("revoked")
)
