// Package chain is the chain problem on which private policy evaluation is
// measured: 40 states in a row, numbered 0 to 39, and an absorbing end after
// the last. Action 1 advances by one state, action 0 stays; entering the end
// pays reward 1 and terminates, every other step pays 0.
//
// Start with [Simulate], which writes a columnar dataset directly, and compare
// with [Values]:
//
//	d, err := chain.Simulate(chain.Options{Episodes: 10000, Seed: 1})
//	exact := chain.Values(0.5, 0.99)
//
// The observation column obs_state holds the state number; behavior_prob is
// recorded for every step. Rewards, returns and values have no unit and lie in
// [0, 1]. The adjacency of privacy is not decided here: by default an episode is
// a person.
//
// The problem is that of Balle, Gomrokchi and Precup, Differentially Private
// Policy Evaluation (ICML 2016), section 6, and of Xie, Thomas and Miklau,
// Privacy Preserving Off-Policy Evaluation (2019); both advance with probability
// 0.5 and discount by 0.99.
package chain
