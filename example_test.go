package discreet_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/evaluate"
)

func trial() discreet.Config {
	arm := 1
	return discreet.Config{
		Data:    discreet.Data{Path: discreet.Paths{"examples/pbc/trajectories.csv"}},
		Problem: discreet.Problem{Persons: 312, Gamma: 1, Horizon: 16, Reward: &discreet.Bounds{Range: evaluate.Range{Min: 0, Max: 1}}},
		Target:  discreet.Target{Kind: "constant", Action: &arm},
		Method:  discreet.Method{Name: "dp-wis", Params: map[string]any{"max_weight": 2}},
		Privacy: discreet.Privacy{Adjacency: "replace_one", Epsilon: 1, Delta: 1e-5},
	}
}

// Plan tells the cost and the expected error; it does not open the data.
func ExamplePlan() {
	plan, err := discreet.Plan(trial())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("expected privacy error %.2f, worst error of a constant %.0f\n", plan.Expected.StdPrivacy, plan.Expected.Constant)
	// Output: expected privacy error 0.42, worst error of a constant 8
}

func ExampleEvaluate() {
	result, err := discreet.Evaluate(context.Background(), trial())
	if err != nil {
		fmt.Println(err)
		return
	}
	r := result.Release
	fmt.Println(r.Method, r.Privacy.Adjacency, r.Privacy.Epsilon, r.Estimate.Confidence)
	// Output: dp-wis replace_one 1 0.95
}
