package serve

import (
	"testing"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// An interval that nobody can forecast does not reach 0 to each side.
func TestAReachIsToldWhereItIsForecast(t *testing.T) {
	for want, a := range map[string]*curatorv1.PlannedAnswer{
		"a: how far the joint interval reaches is not forecast.":                              {Interval: "joint"},
		"a: how far the 90% interval reaches is not forecast.":                                {Interval: "90%", CountsMissing: true},
		"a: the joint interval is expected to reach 0.25 to each side, without missing mass.": {Interval: "joint", HalfWidth: 0.25},
		"a: the 90% interval is expected to reach 0.25 to each side.":                         {Interval: "90%", HalfWidth: 0.25, CountsMissing: true},
	} {
		a.Name = "a"
		if got := reach(a); got != want {
			t.Errorf("%v: %q; want %q", a, got, want)
		}
	}
}
