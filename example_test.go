package discreet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
)

func trial() config.Config {
	return config.Config{
		Data:    config.Data{Path: config.Names{"examples/pbc/trajectories.csv"}, Behavior: &config.Behavior{Source: "design"}},
		Problem: config.Problem{Persons: 312, Gamma: 1, Horizon: 16, Reward: &config.Bounds{Range: evaluate.Range{Min: 0, Max: 1}}},
		Target:  config.Target{Kind: "constant", Action: &config.Action{Number: 1}},
		Method:  config.Method{Name: "dp-wis", Params: map[string]any{"max_weight": 2}},
		Privacy: config.Privacy{Adjacency: "replace_one", Epsilon: 1, Delta: 1e-5},
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
	// Output: expected privacy error 0.38, worst error of a constant 8
}

func ExampleEvaluate() {
	result, err := discreet.Evaluate(context.Background(), trial())
	if err != nil {
		fmt.Println(err)
		return
	}
	r := result.Release
	fmt.Println(r.Method, r.Privacy.Adjacency, r.Privacy.Epsilon, r.Answers[0].Estimate.Confidence)
	// Output: dp-wis replace_one 1 0.95
}

// The configuration that the documents show, with one key changed.
func ExampleLoad() {
	cfg, err := discreet.Load("examples/pbc/penicillamine.yaml", "privacy.epsilon=0.5", "output=null")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := discreet.Plan(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s at epsilon %g: expected privacy error %.2f\n", cfg.Method.Name, cfg.Privacy.Epsilon, plan.Expected.StdPrivacy)
	// Output: dp-wis at epsilon 0.5: expected privacy error 0.14
}

// Two hundred simulated agents report once each; none spends more than epsilon 2.
func ExampleTrain() {
	training, err := discreet.LoadTraining("examples/fleet/train.yaml", "server.submissions=200", "success=null", "output=null")
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := discreet.Train(context.Background(), training)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Accepted, "reports,", len(result.Theta), "weights, epsilon", result.Epsilon)
	// Output: 200 reports, 8 weights, epsilon 2
}

// Whoever is given a release can check it.
func ExampleVerify() {
	result, err := discreet.Evaluate(context.Background(), trial())
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := discreet.Verify(result.JSON, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.Release.Method, "costs no more than it says:", found.Epsilon.Upper <= found.Release.Privacy.Epsilon)
	fmt.Println(found.Notes[0])
	// Output:
	// dp-wis costs no more than it says: true
	// UNSIGNED: anybody could have written this file; its value could be anything
}

// With a ledger a release is paid for before it is made. The same key returns it
// again; a budget that is used up refuses.
func ExampleEvaluate_ledger() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	budget := filepath.Join(dir, "budget.db")
	l, err := ledger.Create(ctx, budget, ledger.Config{
		Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1.5, Delta: 2e-5},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()

	cfg := trial()
	cfg.Ledger = &config.Ledger{Path: budget, Analyst: "ada", Purpose: "return under treatment"}
	first, err := discreet.Evaluate(ctx, cfg, discreet.WithKey("monday"))
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := discreet.Evaluate(ctx, cfg, discreet.WithKey("monday"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(first.Release.Ledger.Seq, again.Repeated, bytes.Equal(first.JSON, again.JSON))
	fmt.Println(l.VerifyRelease(ctx, first.JSON))
	_, err = discreet.Evaluate(ctx, cfg)
	var refused *ledger.RefusedError
	fmt.Println(errors.As(err, &refused))
	// Output:
	// 1 true true
	// <nil>
	// true
}
