// Package train is the protocol by which many agents train one policy without a
// trusted collector: local differential privacy.
//
// An [Aggregator] holds the weights and issues a [Task]. An [Agent] trains in its own
// environment from the weights that the task names, randomises the result, and answers
// with a [Report] of a fixed size. The aggregator turns reports into updates. Both
// agree on the [Terms] in advance. Start with the example of the package, or, for
// a whole fleet in one process, with package train/simulate. Package train/device trains
// in environments written in Go, package internal/train/ledgerwallet keeps agents' budgets; neither is
// needed here, and this package links no database.
//
// The framework is private gradient collection (Ono and Takahashi 2020, algorithm 1).
// The paper also sends the score of the episode without protection; here it stays on
// the device.
//
// # Privacy
//
// The unit is the agent: everything about its environment. Adjacency is
// replace-one. A report is epsilon-locally private by its randomiser, whatever the
// task says, and an agent's reports add up; its [Wallet] is debited just before the
// noise is drawn, and refuses what the budget does not cover. A task with a different
// randomiser than the agent agreed to, or with different weights than those it
// names, is refused and costs nothing. Everything that the aggregator does with reports is
// post-processing. It never sees a score, a gradient or the length of an episode.
// Participation is not protected, nor is the time of sending: send at
// the task's deadline, and report on the zero vector if there is nothing to report.
//
// # Units
//
// Epsilon is the largest log-ratio of probabilities. Steps of optimizers are lengths in
// weight space (momentum), or multiples of the mean report (sgd). Deadlines are
// seconds since 1970.
package train
