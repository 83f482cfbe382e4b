//go:build !linux && !darwin

package pgtest

import (
	"context"
	"fmt"
)

// Postgres is a running server; on this system there is none.
type Postgres struct{}

// Start fails with ErrUnavailable.
func Start(string) (*Postgres, error) {
	return nil, fmt.Errorf("%w: starting one is written for Linux and macOS", ErrUnavailable)
}

// Memory is a directory in memory; on this system none is known.
func Memory() string { return "" }

// Restart does nothing.
func (*Postgres) Restart() error { return ErrUnavailable }

// NewSchema does nothing.
func (*Postgres) NewSchema() (string, error) { return "", ErrUnavailable }

// NewTablespace does nothing.
func (*Postgres) NewTablespace(string) (string, error) { return "", ErrUnavailable }

// Kill does nothing.
func (*Postgres) Kill() error { return ErrUnavailable }

// Stop does nothing.
func (*Postgres) Stop() {}

// Deadlocks fails with ErrUnavailable.
func Deadlocks(context.Context, string) (int, error) { return 0, ErrUnavailable }
