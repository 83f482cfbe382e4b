package simulate

import (
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// Recipe is how agents learn and report: what a configuration states, and what was chosen where it leaves
// that out or says auto.
type Recipe struct {
	Method    device.Method   `json:"method"`
	Mechanism train.Mechanism `json:"mechanism"`
	// Episodes of a local step, of pairs on either side.
	Episodes int `json:"episodes"`
	// Epsilon of a report and Weights of the policy are what the rule looks at.
	Epsilon float64 `json:"epsilon_report"`
	Weights int     `json:"weights"`
	// Chosen are the keys that the configuration left to the rule.
	Chosen []string `json:"chosen,omitempty"`
}
