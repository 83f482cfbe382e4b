// Package xie19 reproduces the figures of Xie, Thomas and Miklau, Privacy
// Preserving Off-Policy Evaluation: the chain (Figures 1 and 5), mountain car
// on-policy and off-policy (Figures 2, 3 and 6), the treatment of HIV (Figure 4)
// and the signs of Table 1.
//
// Start with
//
//	done, err := figure.Run(ctx, xie19.Study(), figure.Options{Dir: "out", Quick: true})
//
// GPOPE runs with the noise of the paper's accountant, labelled with the epsilon
// that it truly gives, with sound noise, and in mini-batches; dp-refine runs
// beside it, and so do LSTD without privacy and the best constant. Unit: a person
// with one trajectory. Adjacency: replace-one. Budget: epsilon 0.1 (in Figures 3
// and 4 also 1), delta 1e-5.
//
// Errors on the chain are MSPBE, in squared units of a reward, against the exact
// moments of trajectories that weigh 1 each, and RMSE over the 40 states, in
// units of a return. On the two continuous problems MSPBE is against the moments
// of a large sample of its own, and the value error is taken at 40 fixed states
// against simulated returns of the policy.
package xie19
