// Package acrobot is the problem of a pendulum of two links that hangs from a fixed
// joint and is driven at the joint between them: its tip has to swing above a
// height of one link over the fixed joint. Angles are in radians, velocities in
// rad/s; observations are the cosine and the sine of either angle and the two
// angular velocities. The reward is -1 a step and 0 for the step that reaches the
// height, so that an undiscounted return lies in [-500, 0] under the customary
// limit.
//
// Start with [New], and hand the problem to sim.Rollout for data or to package
// learn for a policy:
//
//	env, err := acrobot.New(acrobot.Options{})
//
// Source: Sutton, Generalization in Reinforcement Learning: Successful Examples Using
// Sparse Coarse Coding (NIPS 1995, printed 1996); Sutton and Barto, Reinforcement Learning: An
// Introduction (1998), section 11.3, whose equation of motion has a term more.
// Constants, rules and the integration, one Runge-Kutta step of 0.2 s, are those of Gymnasium's
// Acrobot-v1, which by default has the equation of the book.
package acrobot
