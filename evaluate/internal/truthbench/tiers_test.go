package truthbench_test

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
)

// TestUnguardedIntervalsHoldOnTheBench counts how often intervals without a guard hold
// the truth, wherever a design is known beforehand and the plan leaves the guard out: 93%
// at least. A count fails where a method at that limit would show it with probability below 2e-6;
// there are below 200 counts, so that all false alarms together are less probable than
// 4e-4.
func TestUnguardedIntervalsHoldOnTheBench(t *testing.T) {
	const logs, persons = 100, 300
	src := noise.NewSeeded(29)
	cells := 0
	for _, p := range append(truthbench.Problems(), truthbench.Trial("trial, a fifth treated", 0.2)) {
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			for name, method := range guarded {
				plan, err := method.Plan(p.Designed(persons, 5, adjacency))
				if err != nil {
					t.Fatal(err)
				}
				if plan.Facts["tier"] != 0 {
					continue
				}
				cells++
				held, answered := 0, 0
				for seed := range logs {
					ready, err := plan.Check(context.Background(), p.Draw(persons, uint64(5000+seed)))
					if errors.Is(err, evaluate.ErrData) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					r, err := ready.Run(context.Background(), receipt.None(), src)
					if err != nil {
						t.Fatal(err)
					}
					answered++
					if r.Estimate.Interval[0] <= p.J && p.J <= r.Estimate.Interval[1] {
						held++
					}
				}
				if held < least(answered, 0.93) || answered < logs/2 {
					t.Errorf("%s, %v, %s: %d of %d intervals without a guard hold the value", p.Name, adjacency, name, held, answered)
				}
			}
		}
	}
	if t.Logf("%d cells without a guard", cells); cells < 30 {
		t.Errorf("%d cells without a guard; want 30 or more", cells)
	}
}
