package account

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
)

// singleShift is the one difference of neighbouring sums that tells them apart
// best under discrete Gaussian noise, as steps in one coordinate; ok is false
// where there is no such one. Coordinate by coordinate a longer step is worse, but
// steps in several coordinates and a longer one in a single coordinate, of the same
// l2 norm, have the same mean loss, so that neither dominates the other
// (docs/proofs/pld.md, section 1). One is left in one dimension, and where the norm
// admits no more than a single step.
func singleShift(adj dp.Adjacency, e dp.DiscreteGaussian) (gap float64, ok bool) {
	steps := math.Floor(e.Norm)
	switch {
	case e.Dimension == 1 || steps == 0:
		return adj.SumSensitivity(steps), true
	case adj == dp.AddRemoveOne && e.Norm*e.Norm < 2:
		return 1, true
	}
	return 0, false
}

// errRenyiOnly marks an event without a loss distribution that has a Renyi curve.
var errRenyiOnly = errors.New("known by its Renyi divergences alone")

// renyiOnly refuses, for the PLD accountant, an event of which only Renyi
// divergences are known.
func renyiOnly(event dp.Event, why string) error {
	return fmt.Errorf("%w: %s %s: %w; New and the rdp accountant bound it by its Renyi divergences", ErrUnsupported, event.Kind(), why, errRenyiOnly)
}
