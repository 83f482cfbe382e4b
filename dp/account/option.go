package account

import (
	"fmt"
	"math"
)

// Option is a choice of how [New] and [NewPLD] compute. None changes what is certified.
type Option func(*settings)

type settings struct {
	width float64 // relative; 0 is the usual one
}

// Width asks the loss distributions for brackets of about the given width, relative to epsilon (for
// a query of delta: relative to delta). 2e-4 is the default. A narrower one takes longer; a wider
// one takes less, though never less than a first, coarse partition of every event. It is a target:
// a bracket that would take too much work is wider, an exact one narrower. It panics unless 1e-6 <=
// relative <= 0.1.
func Width(relative float64) Option {
	if err := CheckWidth(relative); err != nil {
		panic("account: Width: " + err.Error())
	}
	return func(s *settings) { s.width = relative }
}

// CheckWidth says why a width is out of range, or nil.
func CheckWidth(relative float64) error {
	if !(relative >= 1e-6 && relative <= 0.1) || math.IsNaN(relative) {
		return fmt.Errorf("%w: a bracket of relative width %v; want 1e-6 to 0.1", ErrUncertified, relative)
	}
	return nil
}
