package pgtest

import (
	"errors"
	"os"
)

// ErrUnavailable marks a machine on which no server could be started.
var ErrUnavailable = errors.New("no PostgreSQL server for the tests")

// Required reports that a missing server is a failure and no reason to skip: the
// environment variable CI is "true".
func Required() bool { return os.Getenv("CI") == "true" }
