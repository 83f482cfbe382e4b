package ono20

import (
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

// ours is training that works at the same epsilon: actions drawn from the policy,
// a policy gradient with returns centred on the device and no value head, reports
// of a direction, and normalised momentum with a falling step and a growing buffer.
// With steps above 1 an agent trains for so many steps of two episodes before it
// reports the change of its weights.
func ours(m mechanism, epsilon float64, steps int, submissions uint64) train.Config {
	c := train.Config{
		Terms: train.Terms{
			Randomizer:  train.Randomizer{Mechanism: m, Epsilon: epsilon},
			Submissions: submissions,
			Optimizer:   train.Optimizer{Kind: "momentum", Step: .3, Decay: 1000},
			Buffer:      10, Growth: .01, Staleness: -1,
		},
		Local: train.Local{
			Method:         train.PolicyGradient,
			Network:        learn.Network{Inputs: 4, Hidden: []int{16}, Actions: 2},
			Steps:          steps,
			Episodes:       1,
			PolicyGradient: learn.PolicyGradient{Gamma: .99},
		},
	}
	if steps > 1 {
		c.Local.Episodes = 2
		c.Local.Optimizer = train.Optimizer{Kind: "momentum", Step: .1}
	}
	return c
}
