package spec

import (
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// AsksNothing reports whether a configuration is the steward's part alone.
func AsksNothing(c config.Config) bool {
	return namesNoPolicy(c) && c.Method.Name == ""
}

// standIn gives a configuration that asks nothing the question that needs least of
// the data, the mean return, so that the steward can look at them.
func standIn(c config.Config) config.Config {
	c.Target, c.Method = config.Target{Kind: "logged"}, config.Method{Name: "dp-is"}
	reference := "is"
	if survival(c) != nil {
		c.Method.Name, reference = "dp-survival", "survival"
	}
	if c.Privacy.None {
		c.Method.Name = reference
		return c
	}
	c.Privacy.Epsilon, c.Privacy.Delta, c.Privacy.LargeDelta = 1, 1e-6, true // of a release that is not made
	return c
}

// statedColumns are the columns that other questions than the mean return would read, where
// the contract says how.
func statedColumns(d config.Data) trajectory.Parts {
	var need trajectory.Parts
	if d.Actions != nil || d.Behavior != nil && !dense(d.Behavior) {
		need |= trajectory.Action
	}
	if d.Behavior != nil && Recorded(d.Behavior) {
		need |= trajectory.BehaviorProb
	}
	return need
}

// NoQuestion is what the curator is told of a look without a question.
const NoQuestion = "the configuration asks no question (target, method): weights, overlap and what a method would not use are left out"
