//go:build slow

package evaluate_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// TestDoublyRobustIntervalsCoverWithManyPersons is TestIntervalsCoverOnTheChain
// where the clip is narrow and sampling makes most of the error: 10000 persons at
// epsilon 1, 120 datasets.
func TestDoublyRobustIntervalsCoverWithManyPersons(t *testing.T) {
	const persons, sets = 10000, 120
	truth := chainWorth(0.6)
	estimators := map[string]evaluate.Estimator{"by state": evaluate.DPDR{}, "one number": evaluate.DPDR{Baseline: "value"}}
	covered := map[string]int{}
	src := noise.NewSeeded(77)
	for seed := range sets {
		d := chainData(t, persons, uint64(9000+seed))
		for _, name := range slices.Sorted(maps.Keys(estimators)) {
			r := run(t, estimators[name], chainOffPolicy(t, persons, 1), d, src).Answers[0].Estimate
			if r.Interval[0] <= truth && truth <= r.Interval[1] {
				covered[name]++
			}
		}
	}
	for name, n := range covered {
		share := float64(n) / sets
		t.Logf("%s: %.1f%% of %d intervals cover", name, 100*share, sets)
		if floor := 0.93 - 3*math.Sqrt(0.95*0.05/sets); share < floor {
			t.Errorf("%s: %.1f%% of intervals cover; want at least %.1f%%", name, 100*share, 100*floor)
		}
	}
}
