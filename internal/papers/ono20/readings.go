package ono20

import (
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// reading says how what the paper leaves open is taken.
type reading string

const (
	// literal is what is printed: a reward of 1 a step, the usual initial weights,
	// gradients through everything in equations 15 to 18, nine threads.
	literal reading = "literal reading"
	// nearest comes closest to Tables 1 and 2 among what was tried.
	nearest reading = "nearest reading"
	// control is the nearest reading with gradients that are zero: a random walk.
	control reading = "zero gradients"
)

// shortName is the reading in the name of a claim.
func shortName(r reading) string {
	return map[reading]string{nearest: "nearest", literal: "literal", control: "control"}[r]
}

func readings() []reading { return []reading{nearest, literal, control} }

// mechanism is one of the paper's two, or none.
type mechanism = train.Mechanism

// pgc is PGC-A3C with |B| = buffer. An epsilon of 0 stands for infinity.
func pgc(m mechanism, epsilon float64, buffer int, r reading) simulate.Config {
	c := simulate.Config{
		Terms: train.Terms{
			Randomizer:  train.Randomizer{Mechanism: m, Epsilon: epsilon, Clip: clip(m)},
			Submissions: submissions,
			Optimizer:   train.Optimizer{Kind: "sgd", Step: .5},
			Buffer:      buffer, Staleness: -1,
			Printed: m == train.PRS,
		},
		Local: device.Local{
			Method:      device.ActorCritic,
			Network:     learn.Network{Inputs: 4, Hidden: []int{16}, Actions: 2, Value: true, ReLUValue: true},
			Steps:       1,
			Episodes:    1,
			ActorCritic: learn.ActorCritic{Gamma: .99, Entropy: .01, ValueWeight: .5},
			Greedy:      true, Uniform: .5, UniformFor: 1800,
			ZeroGradient: r == control,
		},
	}
	if r == literal {
		c.Local.ActorCritic.PlainBootstrap = true
		c.Local.ActorCritic.BootstrapTerminal = true
		c.Workers, c.Schedule = 9, "fastest"
		return c
	}
	c.Local.Reward = learn.FailureReward
	if m == train.Laplace {
		c.Local.ActorCritic.Detach, c.Local.ActorCritic.DetachReturn = true, true
		c.Init = learn.Init{Normal: .02}
	}
	return c
}

// clip is the paper's C; without privacy the paper names none.
func clip(m mechanism) float64 {
	switch m {
	case train.Laplace:
		return .01
	case train.PRS:
		return 1
	}
	return 0
}
