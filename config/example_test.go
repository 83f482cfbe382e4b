package config_test

import (
	"fmt"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
)

// A configuration made in Go is planned without the data.
func ExampleConfig() {
	plan, err := discreet.Plan(config.Config{
		Data:    config.Data{Path: config.Names{"visits.csv"}},
		Problem: config.Problem{Persons: 500, Gamma: 1, Horizon: 6, Reward: &config.Bounds{Range: evaluate.Range{Max: 1}}},
		Target:  config.Target{Kind: "logged"},
		Method:  config.Method{Name: "dp-is"},
		Privacy: config.Privacy{Adjacency: "replace_one", Epsilon: 1, Delta: 1e-5},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: standard deviation of the noise %.2f\n", plan.Method, plan.Expected.StdPrivacy)
	// Output: dp-is: standard deviation of the noise 0.02
}
