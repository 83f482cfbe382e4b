// Package simulate is a fleet in one process: agents in simulated environments, the
// aggregator of package train, and the messages between them.
//
//	result, err := simulate.Run(ctx, simulate.Config{
//		Terms: train.Terms{
//			Randomizer:  train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1},
//			Submissions: 5000,
//			Optimizer:   train.Optimizer{Kind: "momentum", Step: 0.3, Decay: 1000},
//			Buffer:      10, Growth: 0.01, Staleness: -1,
//		},
//		Local: device.Local{
//			Method:         device.PolicyGradient,
//			Network:        learn.Network{Inputs: 4, Hidden: []int{16}, Actions: 2},
//			Steps:          1, Episodes: 1,
//			PolicyGradient: learn.PolicyGradient{Gamma: 0.99},
//		},
//		Environments: environments,
//		Seed:         1,
//	})
//
// Reports are randomised and wallets are debited as in a real fleet. Unlike a real
// aggregator, a simulation also knows the scores of its agents. [Success] asks
// separate agents by randomised response instead. The unit of privacy is the agent;
// adjacency is replace-one.
//
// All randomness of the simulated world follows from [Config].Seed; noise
// comes from the operating system unless [Config].Noise says otherwise. A [Journal]
// stores a run on disk, so that it can be interrupted and continued.
package simulate
