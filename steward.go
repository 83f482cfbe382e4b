package discreet

import "github.com/discreet-rl/discreet/rl/trajectory"

// asksNothing tells whether a configuration is the steward's part alone.
func (c Config) asksNothing() bool {
	return c.Target.Kind == "" && len(c.Targets) == 0 && c.Method.Name == ""
}

// standIn gives a configuration that asks nothing the question that needs least of
// the data, the mean return, so that the steward can look at them.
func (c Config) standIn() Config {
	c.Target, c.Method = Target{Kind: "logged"}, Method{Name: "dp-is"}
	if c.Privacy.None {
		c.Method.Name = "is"
		return c
	}
	c.Privacy.Epsilon, c.Privacy.Delta, c.Privacy.LargeDelta = 1, 1e-6, true // of a release that is not made
	return c
}

// stated are the columns that other questions than the mean return would read, where
// the contract says how.
func (d Data) stated() trajectory.Parts {
	var need trajectory.Parts
	if d.Actions != nil || d.Behavior != nil {
		need |= trajectory.Action
	}
	if d.Behavior != nil && d.Behavior.recorded() {
		need |= trajectory.BehaviorProb
	}
	return need
}

// noQuestion is what the curator is told of a look without a question.
const noQuestion = "the configuration asks no question (target, method): weights, overlap and what a method would not use are left out"
