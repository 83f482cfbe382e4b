// Package learn finds good policies in a simulator: the behaviour policies that
// log data, and the target policies that are evaluated on them. It knows nothing
// of privacy; what it learns from must not be private data.
//
// Start with [Sarsa] or [QLearning], which return a linear action-value function
// [Q]; make a policy of it, or write it as a policy file:
//
//	q, progress, err := learn.Sarsa(ctx, learn.Options{
//		Env:      env,
//		Features: feature.Spec{Kind: "fourier", Order: 3, Names: names, Low: low, High: high},
//		Alpha:    0.005, Gamma: 1, Lambda: 0.9, Episodes: 300, Seed: 1,
//	})
//	err = q.Write(file)
//
// Action values are in the units of the problem's reward, discounted by Gamma a
// step. Step sizes have the unit of one over a squared feature norm: with Fourier
// features each is scaled by one over the norm of its frequencies.
//
// Sources: Sutton and Barto, Reinforcement Learning: An Introduction, 2nd
// edition (2018), sections 12.7 and 12.10, for Sarsa(lambda) and Watkins's
// Q(lambda) with linear functions and accumulating traces; Konidaris, Osentoski
// and Thomas, Value Function Approximation in Reinforcement Learning using the
// Fourier Basis (AAAI 2011), for the scaling of step sizes.
package learn
