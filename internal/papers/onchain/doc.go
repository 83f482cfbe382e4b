// Package onchain runs estimators of package evaluate on the chain of 40 states
// that both papers on private policy evaluation use, on-policy, for
// reproductions: seeded data and seeded noise, so it protects nobody.
//
// Start with
//
//	problem := onchain.Problem{Persons: 1000, Features: onchain.Tabular(), Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}}
//	data, err := problem.Simulate(seed)
//	v, err := problem.Values(ctx, evaluate.DPRefine{}, data, seed)
//
// One person owns one trajectory; adjacency is replace-one; returns lie in
// [0, 1]; gamma is 0.99 and a step advances with probability 1/2.
package onchain
