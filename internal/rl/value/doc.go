// Package value estimates the value of a target policy from logged
// trajectories, without privacy: the reference that private estimators are
// measured against, and the per-person contributions that they are built on.
//
// Start with [NewSample], which sees a dataset through a feature map, a target
// policy and a discount, and hand it to an estimator:
//
//	s, err := value.NewSample(data, value.Options{Gamma: 0.99, Features: tabular})
//	theta, err := value.LSTD{}.Solve(s)
//	j, err := value.IS(s)
//
// Value functions (V(s) = phi(s)'theta): [LSW] and [LSL], regression on
// first-visit Monte Carlo returns; [LSTD], [WISLSTD] and [GTD2], from
// transitions. The value J of the policy over the data's start states: [IS],
// [PDIS], [WIS], [DR]. Exact values of a known finite problem: [FiniteMDP].
// Errors: [RMSE], [Moments.MSPBE].
//
// # Persons count equally
//
// Every average is over persons, and what a person contributes is the mean over
// that person's episodes, however many and however long they are. Functions
// named after persons (ISContributions, Moments.AddPerson, FirstVisits.Person, ...) hand out what
// one person adds, which a private estimator clips and sums.
//
// # Rows
//
// The reward of row t is followed by the features of row t+1. After the last row
// of an episode that terminated they are zero. After that of a truncated episode
// they are those of its final observation; where that was not recorded, methods
// that bootstrap (LSTD) leave the transition out, and [Sample.Unknown] counts
// these for the curator. Returns run to the end of the record either way.
//
// Units: values and returns are in the unit of the reward. Ratios, features and
// discounts have none. Everything here reads private data without protection:
// no result may be published as it is.
package value
