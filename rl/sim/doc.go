// Package sim plays simulated problems and records what happened.
//
// Start with [Rollout]: it plays episodes of an [Env], as the packages below
// this one make them, under a behaviour policy of package policy, and fills a
// columnar dataset directly:
//
//	r := sim.Rollout{
//		New:      func() (sim.Env, error) { return mountaincar.New(mountaincar.Options{}) },
//		Policy:   pi,
//		Episodes: 10000,
//		Seed:     1,
//	}
//	d, err := r.Run(ctx)
//
// The dataset records the behaviour policy's probability of every action
// (behavior_prob, action_probs) and the observation after the last step of
// every episode that did not terminate. Equal seeds give equal data whatever
// the number of workers, on machines of one architecture: elsewhere a compiler
// may fuse multiplications and additions, and last bits differ.
//
// The interface is that of Gymnasium (Towers et al., Gymnasium: A Standard
// Interface for Reinforcement Learning Environments, 2024): Reset, Step,
// observation, reward, terminated, truncated. Units are those of each problem.
// Nothing here knows of privacy; by default an episode is a person.
package sim
