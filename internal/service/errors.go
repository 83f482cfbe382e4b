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
	// ErrRevoked marks an identity that was taken back.
	ErrRevoked = errors.New("revoked")
)
