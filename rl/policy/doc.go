// Package policy holds policies: the target policy pi that is to be evaluated,
// seen from logged decisions that a behaviour policy pi_b made.
//
// Start with a constructor ([NewUniform], [NewConstant], [ReadTable],
// [ReadSoftmax], [ReadSoftGreedy], or the values [Logged] and [ProbColumn]) and
// ask for importance ratios:
//
//	pi, err := policy.NewUniform(34)
//	err = policy.Ratios(rho, pi, data)
//
// A ratio rho = pi(a|s) / pi_b(a|s) is that of the logged action in the logged
// state, one for each row; it has no unit and lies in [0, +Inf). On-policy,
// every ratio is 1. The name and the use follow Precup, Sutton and Singh,
// Eligibility traces for off-policy policy evaluation (ICML 2000).
//
// A target policy is public: its files are not private data, and errors about
// them print what they hold. Errors of [Check] name rows of private data and
// are for the curator alone; they print no value. A row that a policy cannot
// judge (no state number, no such action, no behaviour probability) has ratio
// zero, so that a release gives every record a fixed contribution; Check
// reports such rows beforehand.
package policy
