package examine_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/examine"
	"github.com/discreet-rl/discreet/rl/policy"
)

// A plan is audited with few runs: enough to find mistakes, not to show all of mu.
func Example() {
	report, err := examine.Plan(context.Background(), examine.Job{
		Estimator: evaluate.DPIS{},
		Public: evaluate.Public{
			Persons: 1000, Gamma: 1, Horizon: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Target: policy.Logged{},
			Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 8, Delta: 1e-6}, NoiseFamily: evaluate.GaussianNoise},
		},
		Runs: 400,
	})
	if err != nil {
		panic(err)
	}
	found := 0
	for _, p := range report.SelfTest {
		if p.Found {
			found++
		}
	}
	fmt.Printf("%d of %d planted bugs found\n", found, len(report.SelfTest))
	fmt.Printf("%.2f of what is paid for is needed; refuted: %v\n", report.Worst, len(report.Broken) > 0)
	// Output:
	// 12 of 12 planted bugs found
	// 1.00 of what is paid for is needed; refuted: false
}
