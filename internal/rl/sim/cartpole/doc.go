// Package cartpole is the problem of balancing a pole on a cart that is pushed
// left or right. Observations are in metres, radians and seconds; the reward is
// 1 a step until the pole leans more than 12 degrees or the cart leaves its
// track, so that an undiscounted return lies in [1, 500] under the customary
// limit.
//
// Start with [New], and hand the problem to sim.Rollout for data or to package
// learn for a policy:
//
//	env, err := cartpole.New(cartpole.Options{Gravity: 9.7, MaxSteps: cartpole.MaxStepsV0})
//
// Gravity is a parameter so that a population of agents can face problems that
// differ a little, as in Ono and Takahashi, Locally Private Distributed
// Reinforcement Learning (2020), which uses 9.7, 9.8 and 9.9 under a limit of
// 200 steps.
//
// Source: Barto, Sutton and Anderson, Neuronlike adaptive elements that can
// solve difficult learning control problems (1983); constants and rules are
// those of Gymnasium's CartPole-v0 and v1.
package cartpole
