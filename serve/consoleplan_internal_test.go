package serve

import (
	"testing"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// An interval that nobody can forecast does not reach 0 to each side.
func TestAReachIsToldWhereItIsForecast(t *testing.T) {
	for half, want := range map[float64]string{
		0:    "a: how far the joint interval reaches is not forecast.",
		0.25: "a: the joint interval is expected to reach 0.25 to each side.",
	} {
		if got := reach(&curatorv1.PlannedAnswer{Name: "a", HalfWidth: half}); got != want {
			t.Errorf("half width %g: %q; want %q", half, got, want)
		}
	}
}
