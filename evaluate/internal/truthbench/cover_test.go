package truthbench_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
)

// guarded are the methods whose intervals hold the value.
var guarded = map[string]evaluate.Estimator{"dp-is": evaluate.DPIS{}, "dp-pdis": evaluate.DPPDIS{}, "dp-wis": evaluate.DPWIS{}, "dp-dr": evaluate.DPDR{}}

// least is the largest number of successes in n trials that is improbable, below
// 2e-6, for one of probability p, and one more: the fewest that pass.
func least(n int, p float64) int {
	b := distuv.Binomial{N: float64(n), P: p}
	k := 0
	for b.CDF(float64(k)) < 2e-6 {
		k++
	}
	return k
}

// TestIntervalsHoldOnTheBench counts how often intervals hold the truth, and how
// often they put it on the wrong side of the logged policy, problem by problem: 93%
// at least and 2.5% at most, and 95% over all. A count fails where a method at that
// limit would show it with probability below 2e-6; there are below 500 counts, so
// that all false alarms together are less probable than 1e-3. A log in which the
// target takes none of the decisions is refused before anything is spent.
func TestIntervalsHoldOnTheBench(t *testing.T) {
	const logs, persons = 40, 300
	src := noise.NewSeeded(17)
	covered, all := 0, 0
	for _, p := range truthbench.Problems() {
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			for _, name := range slices.Sorted(maps.Keys(guarded)) {
				plan, err := guarded[name].Plan(p.Public(persons, 5, adjacency))
				if err != nil {
					t.Fatal(err)
				}
				held, wrong, answered := 0, 0, 0
				for seed := range logs {
					ready, err := plan.Check(context.Background(), p.Draw(persons, uint64(1000+seed)))
					if errors.Is(err, evaluate.ErrData) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					answered++
					r, err := ready.Run(context.Background(), receipt.None(), src)
					if err != nil {
						t.Fatal(err)
					}
					low, high := r.Answers[0].Estimate.Interval[0], r.Answers[0].Estimate.Interval[1]
					if low <= p.J && p.J <= high {
						held++
					}
					if p.J > p.Logged && high < p.Logged || p.J < p.Logged && low > p.Logged {
						wrong++
					}
				}
				covered, all = covered+held, all+answered
				if held < least(answered, 0.93) || answered-wrong < least(answered, 0.975) || answered < logs/2 {
					t.Errorf("%s, %v, %s: %d of %d intervals hold the value, %d are on the wrong side", p.Name, adjacency, name, held, answered, wrong)
				}
			}
		}
	}
	t.Logf("%.2f%% of %d intervals hold the value", 100*float64(covered)/float64(all), all)
	if covered < least(all, 0.95) {
		t.Errorf("%d of %d intervals hold the value; want 95%%", covered, all)
	}
}
