// Package train trains one policy on many agents' environments without a trusted
// collector: local differential privacy.
//
// Start with [Train], which runs agents and aggregator in one process:
//
//	result, err := train.Train(ctx, train.Config{
//		Terms: train.Terms{
//			Randomizer:  train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1},
//			Submissions: 5000,
//			Optimizer:   train.Optimizer{Kind: "momentum", Step: 0.3, Decay: 1000},
//			Buffer:      10, Growth: 0.01, Staleness: -1,
//		},
//		Local: train.Local{
//			Method:         train.PolicyGradient,
//			Network:        learn.Network{Inputs: 4, Hidden: []int{16}, Actions: 2},
//			Steps:          1, Episodes: 1,
//			PolicyGradient: learn.PolicyGradient{Gamma: 0.99},
//		},
//		Environments: environments,
//		Seed:         1,
//	})
//
// An [Aggregator] holds the weights and issues a [Task]; an [Agent] plays in its own
// environment, randomises what it learned, and answers with a [Report] of a fixed
// size; the aggregator turns reports into updates. The framework is private
// gradient collection (Ono and Takahashi 2020, algorithm 1). What the paper sends
// and should not, the score of the episode, stays on the device here; [Success]
// asks separate agents by randomised response instead.
//
// # Privacy
//
// The unit is the agent: everything about its environment. Adjacency is
// replace-one. A report is epsilon-locally private by its randomiser, whatever the
// task says, and an agent's reports add up; its [Wallet] is debited before a report
// leaves, and refuses what the budget does not cover. A task that names another
// randomiser than the agent agreed to is refused. Everything that the aggregator
// does with reports is post-processing. It never sees a score, a gradient or the
// length of an episode. That an agent takes part is not protected, nor is the time
// at which it sends: send at the task's deadline.
//
// # Units
//
// Epsilon is the largest log-ratio of probabilities. Scores are sums of the
// problem's own rewards. Steps of optimizers are lengths in the space of weights
// (momentum), or multiples of the mean report (sgd). Everything that is random in
// the simulated world follows from [Config].Seed; noise comes from the operating
// system unless [Config].Noise says otherwise.
package train
