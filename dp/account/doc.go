// Package account turns the events of package dp into (epsilon, delta).
//
// Start with [New], which answers in closed form where there is one and by
// privacy-loss distributions otherwise:
//
//	a := account.New(dp.ReplaceOne)
//	err := a.Compose(ctx, event, 1)
//	b, err := a.Epsilon(ctx, 1e-5) // b.Upper is the guarantee
//
// Functions that may take over 10 ms take a context, and return its error soon after it is
// cancelled. [Width] trades time for the width of a bracket.
//
// [ForGroup] answers for groups of linked persons. [Calibrate] finds the noise that meets a budget,
// [CalibrateTemplate] any number that an event leaves open, and [LargestCount] the number
// of runs that fit. An accountant composes events that are fixed before the first
// release. If each release may be chosen after seeing the last, use a
// [Filter], or an [Odometer] if no budget is fixed in advance.
//
// # Units and adjacency
//
// Epsilon is a natural logarithm, delta a probability. Noise multipliers are per
// clip norm, and the accountant applies the adjacency: under
// [dp.ReplaceOne] the sensitivity of a clipped sum is twice the clip. A mu is a
// sensitivity over a standard deviation and includes the adjacency.
//
// Every answer is a [Bracket] rounded outward; only its upper bound gives a
// guarantee. An unsupported event is refused with
// [ErrUnsupported], by name, and one that cannot be certified with [ErrUncertified].
//
// # What is supported
//
// R is ReplaceOne, A is AddRemoveOne. "Exact" brackets are some 1e-13 wide,
// "bracket" encloses the true value between two certified bounds, "upper" is an upper
// bound with a lower bound of 0, and a dash is a refusal.
//
//	event                                     ClosedForm       PLD              RDP
//	gaussian, composed with its like          exact  R A       exact    R A     upper R A
//	gdp, composed with gaussian               exact  R A       exact    R A     upper R A
//	tree_aggregation, with gaussian           bracket R A (7)  bracket  R A (7) upper R A
//	zcdp, rdp_curve                           -                -                upper R A
//	select_best, of what RDP supports (6)     -                -                upper R A
//	pure_dp                                   exact  R A (1)   bracket  R A     upper R A
//	exponential                               exact  R A (1)   bracket  R A     upper R A
//	permute_and_flip, report_noisy_max (4)    upper  R A (1)   upper    R A     upper R A
//	privacy_loss                              exact  R A (1)   bracket  R A     upper R A (5)
//	laplace                                   exact  R A (1)   bracket  R A     upper R A
//	discrete_gaussian                         bracket R A (2)  bracket  R A (3) upper R A
//	discrete_laplace                          exact  R A (1)   bracket  R A     upper R A
//	randomized_response                       exact  R   (1)   bracket  R       upper R
//	approximate_dp                            exact  R A (1)   bracket  R A     upper R A
//	smooth_gaussian                           bracket R A (1)  - (8)            - (8)
//	shuffled, one randomizer                  upper  R   (1)   - (8)            - (8)
//	poisson_sampled gaussian, or several      -                bracket  R A     upper R A
//	poisson_sampled, other noise, pure_dp,
//	  approximate_dp or a choice              -                see PLD          -
//	truncated_poisson_sampled, same           -                bracket  R A (9) upper R A
//	sampled_without_replacement gaussian, same -               bracket  R       upper R
//	sampled_without_replacement, other noise  -                see PLD          -
//	composed, self_composed                   of Gaussians     yes              yes
//
// (1) A single run and nothing else; composed it has no closed form.
// (2) A single run on vectors with few worst-case differences, and any composition if sigma is so
// large that the noise is nearly continuous; see docs/proofs/pld.md.
// (3) In one dimension, with few worst-case differences, or with a large sigma. For all others New uses RDP.
// (4) A monotone report_noisy_max only under A.
// (5) If no loss is infinite.
// (6) If the event has no delta of its own.
// (7) Exact for one tree; with restarts and several participations the bounds may differ.
// (8) [FixDelta] converts it to an approximate_dp event that composes, at a share of delta that is
// fixed when it is charged.
// (9) Narrow if samples are rarely truncated, or nearly always; otherwise wide.
//
// A [Filter] supports, under its Gaussian rule, compositions of Gaussians and tree_aggregation; under its Renyi
// rule, what RDP supports; and under its basic rule, or from its reserve, anything
// that is (epsilon, delta) by definition or that New supports at a fixed delta.
//
// Sources: Balle and Wang 2018 (Gaussian profile); Dong, Roth and Su 2022 (mu);
// Mironov 2017 and Mironov, Talwar, Zhang 2019 (Renyi); Canonne, Kamath, Steinke
// 2020 (conversion, discrete Gaussian); Durfee and Rogers 2019, Dong, Durfee, Rogers
// 2020, McKenna and Sheldon 2020, Papernot and Steinke 2022 (choices); Chan, Shi, Song 2011 and Kairouz et al. 2021 (trees); Feldman, McMillan, Talwar 2021 (shuffling); Zhu, Dong, Wang 2022 (dominating pairs);
// Smith and Thakurta 2022, Koskela, Tobaben, Honkela 2023, Feldman and Zrnic
// 2021, Rogers et al. 2016, Vadhan and Zhang 2023 (filters). The proofs of the
// numerics are in docs/proofs/accounting.md.
package account
