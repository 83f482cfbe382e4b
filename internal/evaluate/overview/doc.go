// Package overview is the curator's look at data before anything is spent: who is
// in it, how long episodes are, what actions were taken, how far the logged
// decisions overlap with those of the target policy, and which public facts the
// data contradict.
//
// Start with [Look]. Everything that it returns is as private as the data. It is
// for the curator alone and must not decide what an analyst may choose: a clip or a
// range that was set after a look at the data voids the guarantee.
//
// Weights are products of importance ratios over an episode. If the behaviour
// probabilities are right and the target policy takes no action that the behaviour
// policy never takes, their mean is 1 (Precup, Sutton and Singh 2000); the
// effective sample size is (sum w)^2 / sum w^2 (Kong 1992). Whatever the target policy, 1
// over the probability of the logged action has at most the number of actions as its mean.
package overview
