// Package rule makes a rule of treatment, a decision tree over covariates or a table over
// states, of noisy sums of how outcomes under each action differ from their mean. It sees no
// data: docs/proofs/learn.md says what the sums are.
package rule
