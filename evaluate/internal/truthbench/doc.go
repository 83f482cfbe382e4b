// Package truthbench holds off-policy problems whose answers are known: how often
// the intervals of an estimator hold the truth is counted on them, beside a bootstrap and a
// betting interval without privacy ([Weighted]). Problems are in its tests. Start with Problems; a Problem knows the value J of the policy to evaluate
// and that of the logged policy, and draws logs of any size from a seed.
//
// Finite problems get their values by backward induction over the horizon, the
// linear-Gaussian ones from a closed form. A table of what all methods do is made by
//
//	go test -tags slow,measure -run TestTruthBench ./evaluate/... -v -timeout 0
package truthbench
