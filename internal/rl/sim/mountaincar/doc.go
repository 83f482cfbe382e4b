// Package mountaincar is the problem of an underpowered car in a valley: it must
// swing to gain the height of the goal. Observations are position and velocity
// (per step), without unit; the reward is -1 a step, so that an undiscounted
// return is minus the number of steps and lies in [-200, -1] under the customary
// limit.
//
// Start with [New], and hand the problem to sim.Rollout for data or to package
// learn for a policy:
//
//	env, err := mountaincar.New(mountaincar.Options{})
//
// A policy that chooses uniformly does not reach the goal within 200 steps (not
// once in 200,000 episodes), and a deterministic one leaves actions without
// probability: to log data, soften a good policy.
//
// Source: Moore, Efficient Memory-based Learning for Robot Control (1990);
// constants and rules are those of Gymnasium's MountainCar-v0.
package mountaincar
