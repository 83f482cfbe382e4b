// Package replay certifies, for a pair of neighbouring datasets, that a run of an
// estimator spends no more than its plan says.
//
// A run is a sequence of sums over persons, each made noisy by a Gaussian. [Check]
// runs the plan on a dataset and keeps every noisy sum that leaves; then it runs the
// plan on the neighbour, with the same seed, and puts those noisy sums in the place
// of its own. Both runs have then shown the same, so that
//
//   - every later clip, query and choice must be the same: equal numbers of
//     releases, dimensions, lattice steps and standard deviations;
//   - the whole release must be the same, byte for byte: a field or a note that
//     depends on data and was not paid for shows itself;
//   - the log-likelihood ratio of what was shown is that of Gaussians whose means
//     differ by dS: the sum of |dS|^2/sigma^2 over the releases is at most the mu^2
//     of the plan's event (Dong, Roth and Su 2022, theorem 3).
//
// A run may also be sums with discrete Laplace noise, whose log-likelihood ratios are
// at most the l1 norm of dS over the scale ([CheckLaplace]), or one choice by permute-and-flip. The neighbour is then shown the same
// candidate, and the probabilities of all candidates are computed from both totals of
// scores ([CheckChoice]).
//
// [Draw] gives the log-likelihood ratio of one run and its noise, so that package
// audit can bound from below what runs show.
//
// It is a test: what it does not try may still be wrong. Not covered are events
// other than compositions of Gaussians or of Laplace sums, and a single choice (dp-lsw and dp-lsl with smooth sensitivity,
// gpope with subsampling, whose amplification no pair shows) and fast noise.
package replay
