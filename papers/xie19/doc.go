// Package xie19 reproduces the chain of Xie, Thomas and Miklau, Privacy
// Preserving Off-Policy Evaluation: Figures 1(a), all methods against the number
// of trajectories, and 1(b), GPOPE against its step size. The figures on
// mountain car and on HIV treatment are not part of it.
//
// Start with
//
//	done, err := figure.Run(ctx, xie19.Study(), figure.Options{Dir: "out", Quick: true})
//
// GPOPE runs with the noise of the paper's accountant, labelled with the epsilon
// that it truly gives, with sound noise, and in mini-batches; dp-refine runs
// beside it. Unit: a person with one trajectory. Adjacency: replace-one. Budget:
// epsilon 0.1, delta 1e-5. Errors are MSPBE, in squared units of a reward,
// against the exact moments of trajectories that weigh 1 each, and RMSE over the
// 40 states, in units of a return.
package xie19
