//go:build slow

package examine_test

import (
	"testing"

	"github.com/discreet-rl/discreet/train"
)

// TestEveryMechanismIsExamined: none is refuted, all mistakes are found, and most of epsilon is shown.
func TestEveryMechanismIsExamined(t *testing.T) {
	examined(t, train.PRS, 1, .85)
	examined(t, train.Laplace, 1, .85)
	examined(t, train.PrivUnit, 0, .85)
	examined(t, train.Ball, 1, .85)
	examined(t, train.Piecewise, 1, .8)
	examined(t, train.Hybrid, 1, .85)
}
