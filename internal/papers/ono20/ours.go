package ono20

import (
	"math"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// ours is training that works at the same epsilon: actions drawn from a linear
// softmax policy (8 weights), a policy gradient with returns centred on the device, reports
// of a direction, and normalised momentum with a falling step and a growing
// buffer, which begins at a size that falls with epsilon. With steps above 1 an agent
// trains for so many steps of two episodes and reports the change of its weights. All
// settings are functions of public numbers; they were chosen on seeds that are not
// among those of the trials.
func ours(m mechanism, epsilon float64, steps int, submissions uint64) simulate.Config {
	c := simulate.Config{
		Terms: train.Terms{
			Randomizer:  train.Randomizer{Mechanism: m, Epsilon: epsilon},
			Submissions: submissions,
			Optimizer:   train.Optimizer{Kind: "momentum", Step: .3, Decay: 1000},
			Buffer:      buffer(20, epsilon),
			Growth:      .01, Staleness: -1,
		},
		Local: device.Local{
			Method:         device.PolicyGradient,
			Network:        learn.Network{Inputs: 4, Actions: 2},
			Steps:          steps,
			Episodes:       1,
			PolicyGradient: learn.PolicyGradient{Gamma: .99},
		},
	}
	if steps > 1 {
		c.Terms.Buffer = buffer(5, epsilon)
		c.Local.Episodes = 2
		c.Local.Optimizer = train.Optimizer{Kind: "momentum", Step: .1}
	}
	return c
}

// buffer is n at epsilon 1; it grows as 1/epsilon below and falls as 1/sqrt(epsilon) above.
func buffer(n, epsilon float64) int {
	return int(math.Ceil(n * max(1/epsilon, 1) * min(1/math.Sqrt(epsilon), 1)))
}
