package replay_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/neighbours"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

const (
	persons  = 5
	states   = 3
	horizon  = 4
	episodes = 2
)

// options are the estimators and options whose release is a sequence of sums.
func options() map[string]map[string]any {
	return map[string]map[string]any{
		"dp-is":                      {"name": "dp-is"},
		"dp-is on-policy":            {"name": "dp-is", "on": true},
		"dp-is auto":                 {"name": "dp-is", "clip": "auto", "diagnostics": 0.2, "max_weight": 2},
		"dp-pdis":                    {"name": "dp-pdis", "clip": "public", "diagnostics": 0.2},
		"dp-pdis auto":               {"name": "dp-pdis", "clip": "auto"},
		"dp-wis":                     {"name": "dp-wis", "clip": "public", "max_weight": 3},
		"dp-wis estimated":           {"name": "dp-wis", "estimated": true, "max_weight": 3},
		"dp-pdis estimated":          {"name": "dp-pdis", "estimated": true, "clip": "auto", "confounding": 1.5},
		"dp-dr estimated":            {"name": "dp-dr", "estimated": true, "baseline": "value"},
		"dp-wis regressed":           {"name": "dp-wis", "regressed": true, "linear": true, "max_weight": 3},
		"dp-dr regressed":            {"name": "dp-dr", "regressed": true, "linear": true, "baseline": "value"},
		"dp-wis auto":                {"name": "dp-wis", "clip": "auto", "diagnostics": 0.2},
		"dp-wis several":             {"name": "dp-wis", "several": true, "clip": "public", "max_weight": 3},
		"dp-pdis several":            {"name": "dp-pdis", "several": true},
		"dp-is laplace":              {"name": "dp-is", "on": true, "complete": evaluate.LaplaceNoise},
		"dp-is complete":             {"name": "dp-is", "on": true, "complete": evaluate.GaussianNoise},
		"dp-is laplace, an arm":      {"name": "dp-is", "bandit": true, "designed": 2., "square": 2.},
		"dp-wis laplace, a contrast": {"name": "dp-wis", "bandit": true, "contrast": true, "designed": 2., "square": 2.},
		"dp-wis laplace, a policy":   {"name": "dp-wis", "designed": 1.4, "square": 1.2},
		"dp-pdis laplace":            {"name": "dp-pdis", "designed": 1.4, "square": 1.2},
		"dp-wis differences":         {"name": "dp-wis", "near": true, "max_weight": 3},
		"dp-pdis differences":        {"name": "dp-pdis", "near": true},
		"dp-is choice":               {"name": "dp-is", "choice": true, "max_weight": 3},
		"dp-wis choice":              {"name": "dp-wis", "choice": true},
		"dp-pdis choice":             {"name": "dp-pdis", "choice": true, "confounding": 1.5},
		"dp-pdis several estimated":  {"name": "dp-pdis", "several": true, "estimated": true, "max_weight": 3},
		"dp-wis several regressed":   {"name": "dp-wis", "several": true, "regressed": true, "linear": true, "max_weight": 3},
		"dp-is on-policy, pure":      {"name": "dp-is", "on": true, "pure": true},
		"dp-wis by cell":             {"name": "dp-wis", "bandit": true, "cells": true, "budget": 400., "gaussian": true},
		"dp-wis by cell, pure":       {"name": "dp-wis", "bandit": true, "cells": true, "budget": 400., "pure": true},
		"dp-wis groups estimated":    {"name": "dp-wis", "groups": "", "estimated": true, "max_weight": 3},
		"dp-dr groups estimated":     {"name": "dp-dr", "groups": "fixed", "estimated": true, "baseline": "value", "clip": "public"},
		"dp-is groups regressed":     {"name": "dp-is", "groups": "", "regressed": true, "rich": true, "linear": true, "max_weight": 3},
		"dp-is groups":               {"name": "dp-is", "groups": "", "clip": "public", "max_weight": 3},
		"dp-is groups fixed":         {"name": "dp-is", "groups": "fixed", "clip": "public", "max_weight": 3},
		"dp-wis groups":              {"name": "dp-wis", "groups": "", "max_weight": 64},
		"dp-wis groups fixed":        {"name": "dp-wis", "groups": "fixed", "max_weight": 64},
		"dp-pdis groups":             {"name": "dp-pdis", "groups": "", "confounding": 1.5},
		"dp-dr groups":               {"name": "dp-dr", "groups": "", "baseline": "state", "clip": "public"},
		"dp-dr groups fixed":         {"name": "dp-dr", "groups": "fixed", "baseline": "value"},
		"groups on-policy":           {"name": "dp-is", "groups": "", "on": true},
		"groups fixed, logged":       {"name": "dp-dr", "groups": "fixed", "on": true},
		"dp-dr":                      {"name": "dp-dr"},
		"dp-dr state":                {"name": "dp-dr", "baseline": "state", "diagnostics": 0.2},
		"dp-dr value":                {"name": "dp-dr", "baseline": "value", "clip": "public"},
		"dp-dr constant":             {"name": "dp-dr", "constant": 1},
		"dp-dr states":               {"name": "dp-dr", "state_values": []float64{0, 1, 2}},
		"dp-dr action":               {"name": "dp-dr", "bandit": true, "baseline": "action"},
		"dp-dr actions":              {"name": "dp-dr", "bandit": true, "action_values": []float64{0.2, 0.8}},
		"dp-dr model":                {"name": "dp-dr", "baseline": "model", "policy": true},
		"dp-dr model linear":         {"name": "dp-dr", "baseline": "model", "linear": true},
		"dp-fqe":                     {"name": "dp-fqe", "form": "action", "policy": true},
		"dp-fqe state":               {"name": "dp-fqe", "form": "state", "interval": "none"},
		"dp-fqe pooled":              {"name": "dp-fqe", "form": "pooled", "max_ratio": 2},
		"dp-fqe on-policy":           {"name": "dp-fqe", "form": "state", "on": true, "start_share": 0.2},
		"dp-fqe linear":              {"name": "dp-fqe", "form": "linear", "linear": true, "policy": true},
		"dp-fqe linear-state":        {"name": "dp-fqe", "linear": true, "max_ratio": 2},
		"dp-refine":                  {"name": "dp-refine", "rounds": 4},
		"dp-refine on-policy":        {"name": "dp-refine", "on": true},
		"dp-refine regression":       {"name": "dp-refine", "form": "regression", "linear": true},
		"dp-refine lstd":             {"name": "dp-refine", "form": "lstd", "linear": true, "rounds": 2},
		"survival":                   {"name": "dp-survival", "outcome": evaluate.LaplaceNoise},
		"survival running sums":      {"name": "dp-survival", "outcome": evaluate.NoiseFamily("gaussian_sums"), "groups": "", "control": "many"},
		"survival sums, policies":    {"name": "dp-survival", "outcome": evaluate.NoiseFamily("gaussian_sums"), "several": true, "max_weight": 3},
		"survival gaussian":          {"name": "dp-survival", "outcome": evaluate.GaussianNoise, "groups": "", "control": "many"},
		"survival groups":            {"name": "dp-survival", "outcome": evaluate.LaplaceNoise, "groups": "fixed"},
		"survival of episodes":       {"name": "dp-survival", "outcome": evaluate.LaplaceNoise, "decisions": true},
		"arms":                       {"name": "dp-wis", "arms": "", "max_weight": 3, "clip": "public"},
		"arms, caps chosen":          {"name": "dp-pdis", "arms": "", "max_weight": 9},
		"arms by a design":           {"name": "dp-wis", "arms": "design"},
		"arms, pure":                 {"name": "dp-wis", "arms": "pure"},
		"distribution":               {"name": "dp-distribution", "max_weight": 3, "lower_tails": []float64{0.2}, "budget": 400.},
		"distribution on-policy":     {"name": "dp-distribution", "on": true, "bins": 4},
		"distribution discrete":      {"name": "dp-distribution", "ends": []float64{0, 0.5, 1, 2}, "discrete": true, "max_weight": 2, "budget": 400.},
		"experiment":                 {"name": "dp-experiment", "on": true, "groups": "", "featureless": true, "control": "few"},
		"experiment, covariate":      {"name": "dp-experiment", "on": true, "groups": "", "control": "few"},
		"experiment, differences":    {"name": "dp-experiment", "on": true, "groups": "", "control": "few", "differences_only": true},
		"experiment, complete":       {"name": "dp-experiment", "on": true, "groups": "", "control": "few", "complete": evaluate.NoiseFamily("")},
		"experiment, fixed":          {"name": "dp-experiment", "on": true, "groups": "fixed", "control": "many"},
		"learn a table":              {"name": "dp-learn", "bandit": true},
		"learn several decisions":    {"name": "dp-learn", "policy": true},
		"learn from a model":         {"name": "dp-learn", "policy": true, "budget": 2e4},
		"learn a stationary one":     {"name": "dp-learn", "policy": true, "budget": 2e4, "stationary": true},
		"learn a tree":               {"name": "dp-learn", "bandit": true, "plain": true, "bins": 2},
		"learn three levels":         {"name": "dp-learn", "bandit": true, "plain": true, "bins": 3, "depth": 3, "never": []map[string]any{{"action": 1, "column": "obs_x", "at_most": -0.5}}},
		"learn a table of sums":      {"name": "dp-learn", "bandit": true, "gaussian": true},
		"learn a tree of sums":       {"name": "dp-learn", "bandit": true, "plain": true, "bins": 2, "gaussian": true},
		"learn a linear rule":        {"name": "dp-learn", "bandit": true, "plain": true, "rule": "linear"},
		"learn a line in a budget":   {"name": "dp-learn", "bandit": true, "plain": true, "rule": "linear", "treated": 0.5, "monotone": map[string]any{"obs_x": "up"}},
		"learn within a budget":      {"name": "dp-learn", "bandit": true, "plain": true, "bins": 2, "treated": 0.5, "never": []map[string]any{{"action": 1, "column": "obs_x", "at_most": -0.5}}},
		"learn in order":             {"name": "dp-learn", "policy": true, "monotone": map[string]any{"obs_state": "up"}, "never": []map[string]any{{"action": 1, "column": "obs_state", "at_most": 0}}},
		"learn by cell":              {"name": "dp-learn", "bandit": true, "cells": true, "budget": 4000., "gaussian": true},
		"learn by cell, pure":        {"name": "dp-learn", "bandit": true, "cells": true, "budget": 4000., "pure": true},
		"learn unrecorded decisions": {"name": "dp-learn", "policy": true, "budget": 2e4, "estimated": true},
		"learn by lives":             {"name": "dp-learn", "outcome": evaluate.NoiseFamily(""), "lives": true, "plain": true, "bins": 2, "depth": 1},
		"learn by lives, laplace":    {"name": "dp-learn", "outcome": evaluate.LaplaceNoise, "lives": true},
		"learn by lives, sums":       {"name": "dp-learn", "outcome": evaluate.GaussianNoise, "lives": true, "plain": true, "bins": 2, "treated": 0.5},
		"learn by lives, line":       {"name": "dp-learn", "outcome": evaluate.NoiseFamily(""), "lives": true, "plain": true, "rule": "linear", "censoring": "any"},
		"survival of a policy":       {"name": "dp-survival", "outcome": evaluate.LaplaceNoise, "column": true, "max_weight": 3},
		"survival of policies":       {"name": "dp-survival", "outcome": evaluate.LaplaceNoise, "several": true, "drawn": 2.0},
		"survival of policies, sd":   {"name": "dp-survival", "outcome": evaluate.GaussianNoise, "several": true, "max_weight": 3},
		"survival of constants":      {"name": "dp-survival", "outcome": evaluate.GaussianNoise, "constants": true, "drawn": 3.0},
		"survival of steps":          {"name": "dp-survival", "outcome": evaluate.LaplaceNoise, "decisions": true, "column": true, "max_weight": 5, "censoring": "independent", "drawn": 1.5},
		"survival, any censoring":    {"name": "dp-survival", "outcome": evaluate.GaussianNoise, "decisions": true, "column": true, "max_weight": 5, "censoring": "any"},
		"gpope everyone":             {"name": "gpope", "sampling": "everyone", "iterations": 4},
		"gpope linear":               {"name": "gpope", "sampling": "everyone", "iterations": 4, "linear": true, "momentum": 0.5},
	}
}

// planOf makes the plan of an option, and the facts it rests on. The words on, linear,
// policy, bandit, cells, pure, gaussian, rich and fast are no parameters: they choose the public facts.
func planOf(t *testing.T, option map[string]any, adjacency dp.Adjacency) (*evaluate.Plan, evaluate.Public) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tabular, err := feature.NewTabular(states, "obs_state")
	check(err)
	linear, err := feature.NewColumns([]string{"obs_x"}, []feature.Range{{Low: -1, High: 1}}, feature.ColumnsOptions{Intercept: true})
	check(err)
	uniform, err := policy.NewUniform(2)
	check(err)
	p := evaluate.Public{
		Persons: persons, Gamma: 0.75, Horizon: horizon, Episodes: episodes,
		Reward: evaluate.Range{Min: 0, Max: 1}, Return: &evaluate.Range{Min: 0, Max: 2},
		Features: tabular, Target: policy.ProbColumn{},
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 8, Delta: 1e-2}},
	}
	if adjacency == dp.AddRemoveOne {
		p.Persons = persons - 1
	}
	params, rich := map[string]any{}, false
	for key, value := range option {
		switch key {
		case "name":
		case "on":
			p.Target = policy.Logged{}
		case "several":
			p.Target = nil
			p.Targets = &evaluate.Targets{Levels: []string{"a", "b"}, Contrasts: [][2]string{{"a", "b"}, {"b", "logged"}},
				Policies: []evaluate.NamedPolicy{{Name: "a", Policy: policy.ProbColumn{}}, {Name: "b", Policy: uniform}, {Name: "logged", Policy: policy.Logged{}}}}
		case "arms":
			p.Target, p.Targets = nil, &evaluate.Targets{Levels: []string{"a", "b"}, Contrasts: [][2]string{{"a", "b"}}, Best: true}
			for i, name := range p.Targets.Levels {
				c, err := policy.NewConstant(i)
				check(err)
				p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: name, Policy: c})
			}
			if value == "pure" {
				p.Horizon, p.Episodes, p.Return, p.Privacy.NoiseFamily = 1, 1, nil, evaluate.LaplaceNoise
			}
			if value != "" {
				p.Design, p.Complete = evaluate.NewDesign(uniform, true, p.Targets.Policies[0].Policy, p.Targets.Policies[1].Policy), true
			}
		case "near":
			p.Target, p.Targets = nil, &evaluate.Targets{Contrasts: [][2]string{{"a", "b"}, {"b", "logged"}}, Drawn: uniform}
			for k, name := range []string{"a", "b"} {
				probs := []float64{}
				for s := range states {
					x := 0.5 + 0.1*float64((s+k)%3-1)
					probs = append(probs, x, 1-x)
				}
				table, err := policy.NewTable(probs, 2, "obs_state")
				check(err)
				p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: name, Policy: table})
			}
			p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: "logged", Policy: policy.Logged{}})
		case "choice":
			constant, err := policy.NewConstant(1)
			check(err)
			p.Target = nil
			p.Targets = &evaluate.Targets{Levels: []string{"a", "b", "logged"}, Best: true, Choose: &evaluate.Choice{By: "permute-and-flip"},
				Policies: []evaluate.NamedPolicy{{Name: "a", Policy: constant}, {Name: "b", Policy: uniform}, {Name: "logged", Policy: policy.Logged{}}}}
		case "groups":
			p.By = &evaluate.Groups{Column: "obs_x", Of: []evaluate.Group{{Name: "few", Number: 1}, {Name: "many", Number: -2}}}
			if value == "fixed" && adjacency == dp.ReplaceOne {
				p.By.Fixed, p.By.Of[0].Persons, p.By.Of[1].Persons = true, 1, 3 // and one in none
			}
		case "complete":
			p.Complete, p.Privacy.NoiseFamily = true, value.(evaluate.NoiseFamily)
		case "designed":
			p.Design = &evaluate.Design{Ratios: []float64{value.(float64)}, Squares: []float64{option["square"].(float64)}, Supported: true}
			p.Complete, p.Privacy.NoiseFamily = true, evaluate.LaplaceNoise
		case "square", "contrast": // below
		case "fast":
			p.Privacy.Fast = true
		case "estimated":
			p.Behavior = &evaluate.EstimatedBehavior{States: states, Column: "obs_state", Actions: 2, Share: 0.5}
		case "gaussian":
			p.Privacy.NoiseFamily = evaluate.GaussianNoise
		case "pure":
			p.Privacy.NoiseFamily = evaluate.LaplaceNoise
		case "cells":
			p.Behavior = &evaluate.EstimatedBehavior{States: states, Column: "obs_state", Actions: 2}
		case "regressed":
			p.Behavior = &evaluate.EstimatedBehavior{By: "features", Actions: 2, Share: 0.6}
			p.Privacy.Budget = dp.Budget{Epsilon: 40, Delta: 1e-2}
		case "budget": // a distribution off-policy is refused where nothing would be known
			p.Privacy.Budget.Epsilon = value.(float64)
		case "rich": // a group of two has to resolve a regression
			rich = true
		case "outcome":
			p.Target, p.Features, p.Gamma, p.Reward, p.Return = policy.Logged{}, nil, 1, evaluate.Range{}, nil
			p.Horizon, p.Episodes, p.OneDecision = 1, 1, true
			p.Outcome = &evaluate.Outcome{Event: "obs_state", Censored: []float64{0}, Causes: []evaluate.Cause{{Name: "a", Number: 1}, {Name: "b", Number: 2}}, Ends: []float64{0.5, 1, 2}}
			p.Privacy.NoiseFamily = value.(evaluate.NoiseFamily)
			if option["decisions"] != nil {
				p.Horizon, p.OneDecision = horizon, false
				p.Outcome = &evaluate.Outcome{Causes: []evaluate.Cause{{Name: "end", Number: 1}}}
				for j := range horizon {
					p.Outcome.Ends = append(p.Outcome.Ends, float64(j+1))
				}
			}
		case "decisions", "column", "constants", "drawn", "censoring", "lives": // below, after the outcome
		case "treated":
			params["budget"] = value
		case "plain":
			p.Features, err = feature.NewColumns([]string{"obs_x"}, []feature.Range{{Low: -1, High: 1}}, feature.ColumnsOptions{})
			check(err)
		case "featureless":
			p.Features = nil
		case "linear":
			p.Features = linear
		case "policy":
			p.Target = uniform
		case "bandit":
			p.Horizon, p.Episodes, p.Return, p.Target = 1, 1, nil, uniform
		default:
			params[key] = value
		}
	}
	if option["contrast"] != nil {
		p.Target, p.Targets = nil, &evaluate.Targets{Contrasts: [][2]string{{"a", "b"}}, Drawn: uniform}
		for i, name := range []string{"a", "b"} {
			arm, err := policy.NewConstant(i)
			check(err)
			p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: name, Policy: arm})
		}
	}
	if option["outcome"] != nil && (option["column"] != nil || option["several"] != nil || option["constants"] != nil) {
		aimed(t, option, adjacency, &p)
	}
	if option["lives"] != nil {
		p.Target, p.Design = uniform, &evaluate.Design{Ratios: []float64{2}, Squares: []float64{2}, Supported: true}
		if p.Features = feature.Map(tabular); option["plain"] != nil {
			p.Features, err = feature.NewColumns([]string{"obs_x"}, []feature.Range{{Low: -1, High: 1}}, feature.ColumnsOptions{})
			check(err)
		}
		if word, ok := option["censoring"].(string); ok {
			p.Outcome.Censoring = word
		}
	}
	if rich {
		p.Privacy.Budget.Epsilon = 400
	}
	e, err := evaluate.New(option["name"].(string), params)
	check(err)
	plan, err := e.Plan(p)
	check(err)
	return plan, p
}

// aimed asks for survival under target policies: with a design that bounds weights where drawn says
// by how much at a decision, else with limits, which replace_one alone has.
func aimed(t *testing.T, option map[string]any, adjacency dp.Adjacency, p *evaluate.Public) {
	t.Helper()
	if option["column"] != nil {
		p.Target = policy.ProbColumn{}
	}
	if option["constants"] != nil {
		p.Target, p.Targets = nil, &evaluate.Targets{Levels: []string{"a", "b"}, Contrasts: [][2]string{{"a", "b"}}}
		for i, name := range p.Targets.Levels {
			c, err := policy.NewConstant(i)
			if err != nil {
				t.Fatal(err)
			}
			p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: name, Policy: c})
		}
	}
	if p.Targets != nil {
		p.Target = nil
	}
	if w, ok := option["drawn"].(float64); ok || adjacency == dp.AddRemoveOne {
		if option["decisions"] != nil {
			w = 1.4 // below max_weight over all decisions
		}
		w = max(w, 1.4)
		p.Design = &evaluate.Design{Ratios: []float64{w}, Squares: []float64{w}, Supported: true}
	}
	if word, ok := option["censoring"].(string); ok {
		p.Outcome.Censoring = word
	}
	if adjacency == dp.AddRemoveOne {
		p.Outcome.Censoring = "independent"
	}
}

// TestPairsKeepToThePlan replays pairs that differ by one person replaced, added or
// removed. Some persons have no episode, as where a reader left out what it could
// not use. No pair is refused: that a target takes none of the logged decisions, say,
// is told by no failure.
func TestPairsKeepToThePlan(t *testing.T) {
	names := slices.Sorted(maps.Keys(options()))
	total, worst := 0, 0.0
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, name := range names {
			option := options()[name]
			plan, p := planOf(t, option, adjacency)
			draw := drawn(t, p, 2)
			here := 0.0
			for pair := range pairs {
				d, err := draw.Pair()
				if err != nil {
					t.Fatal(err)
				}
				r, err := replay.Check(context.Background(), plan, d.Data, d.Neighbour, uint64(pair))
				if err != nil {
					t.Errorf("%s, %v, pair %d, %s: %v", name, adjacency, pair, d.Kind, err)
					break
				}
				here = max(here, r.Ratio)
				total++
			}
			t.Logf("%-22s %-16v worst ratio %.6f", name, adjacency, here)
			if here < 0.25 {
				t.Errorf("%s, %v: no pair needs more than %v of what is paid for: the persons aim beside the edges", name, adjacency, here)
			}
			worst = max(worst, here)
		}
	}
	t.Logf("%d pairs, worst ratio %.9f; none refused by the check of the data", total, worst)
}

// drawn is a source of pairs for the facts.
func drawn(t *testing.T, p evaluate.Public, seed uint64) *neighbours.Source {
	t.Helper()
	s, err := neighbours.New(p, []string{"obs_state", "obs_x"}, nil, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWhatReplayCannotJudgeIsRefused: events that are no composition of Gaussians,
// and fast noise.
func TestWhatReplayCannotJudgeIsRefused(t *testing.T) {
	for _, option := range []map[string]any{{"name": "dp-is", "fast": true}, {"name": "gpope", "batch": 2, "iterations": 3, "sampling": "poisson"}} {
		plan, p := planOf(t, option, dp.ReplaceOne)
		pair, err := drawn(t, p, 3).Pair()
		if err != nil {
			t.Fatal(err)
		}
		_, err = replay.Check(context.Background(), plan, pair.Data, pair.Neighbour, 1)
		if !errors.Is(err, replay.ErrUncovered) {
			t.Errorf("%v: %v; want ErrUncovered", option, err)
		}
	}
}
