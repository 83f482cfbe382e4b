package account

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. Everything this package returns wraps one of them or one of
// package dp's.
var (
	// ErrUnsupported marks an event that an accountant cannot account for under
	// its adjacency.
	ErrUnsupported = fault.Input("event not supported")
	// ErrUncertified marks an answer that lies outside what can be certified.
	ErrUncertified = fault.Input("answer cannot be certified")
)

// Bracket encloses the true value of what was asked, Lower <= truth <= Upper; both ends are rounded
// outward. Only Upper may be used as a guarantee.
type Bracket struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// String returns "[lower, upper]".
func (b Bracket) String() string { return fmt.Sprintf("[%.9g, %.9g]", b.Lower, b.Upper) }

// Accountant turns events into (epsilon, delta) under one adjacency, which is
// fixed when it is made. It composes events that are fixed before the first
// release; for charges chosen after seeing earlier releases use a Filter.
type Accountant interface {
	// String names the accountant: "closed_form", "pld" or "rdp".
	String() string
	// Adjacency is the neighbouring relation of every answer.
	Adjacency() dp.Adjacency
	// Compose adds event, run count times. An event that is not supported is
	// refused with ErrUnsupported, by name, and changes nothing.
	Compose(ctx context.Context, event dp.Event, count int64) error
	// Epsilon brackets the smallest epsilon that holds at delta.
	Epsilon(ctx context.Context, delta float64) (Bracket, error)
	// Delta brackets the smallest delta that holds at epsilon.
	Delta(ctx context.Context, epsilon float64) (Bracket, error)
}
