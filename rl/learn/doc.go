// Package learn finds good policies in a simulator: the behaviour policies that
// log data, and the target policies that are evaluated on them. It also computes
// gradients of a loss on a device's own episodes, for local training. It does not
// protect privacy: weights and gradients reveal the data behind them, and package
// train protects them.
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
// For gradients, lay out an [MLP], play an [Episode] with a [Player] and ask
// [ActorCritic] or [PolicyGradient]:
//
//	net, err := learn.NewMLP(learn.Network{Inputs: 4, Hidden: []int{16}, Actions: 2, Value: true})
//	player, err := learn.NewPlayer(net, env, 200, learn.OwnReward)
//	loss, err := learn.ActorCritic{Gamma: 0.99, ValueWeight: 0.5}.Bind(net)
//	err = player.Play(&episode, theta, learn.Explore{}, rng)
//	loss.Gradient(gradient, theta, &episode) // adds to gradient
//
// Action values are in the units of the problem's reward, discounted by Gamma a
// step. Step sizes have the unit of one over a squared feature norm: with Fourier
// features each is scaled by one over the norm of its frequencies.
//
// Sources: Sutton and Barto, Reinforcement Learning: An Introduction, 2nd
// edition (2018), sections 12.7 and 12.10, for Sarsa(lambda) and Watkins's
// Q(lambda) with linear functions and accumulating traces; Konidaris, Osentoski
// and Thomas, Value Function Approximation in Reinforcement Learning using the
// Fourier Basis (AAAI 2011), for the scaling of step sizes; Mnih et al.,
// Asynchronous Methods for Deep Reinforcement Learning (ICML 2016), and Ono and
// Takahashi, Locally Private Distributed Reinforcement Learning (2020), for the
// actor-critic loss; Williams, Simple Statistical Gradient-Following Algorithms
// for Connectionist Reinforcement Learning (1992), for the policy gradient.
package learn
