// Package account turns the events of package dp into (epsilon, delta).
//
// Start with [New], which answers in closed form where there is one and by
// privacy-loss distributions otherwise:
//
//	a := account.New(dp.ReplaceOne)
//	err := a.Compose(ctx, event, 1)
//	b, err := a.Epsilon(ctx, 1e-5) // b.Upper is the guarantee
//
// What may take over 10 ms takes a context, and ends with its error soon after it is
// cancelled. [Width] trades time for the width of a bracket.
//
// [ForGroup] answers for groups of linked persons. [Calibrate] finds the noise that meets a budget,
// [CalibrateTemplate] whatever number an event leaves open, and [LargestCount] the number
// of runs that do. An accountant composes events that are fixed before the first
// release; where each release may be chosen after seeing the last, use a
// [Filter], or an [Odometer] where no budget is fixed beforehand.
//
// # Units and adjacency
//
// Epsilon is a natural logarithm, delta a probability. Noise multipliers are per
// clip norm, and the accountant applies the adjacency: under
// [dp.ReplaceOne] the sensitivity of a clipped sum is twice the clip. A mu is a
// sensitivity over a standard deviation and includes the adjacency.
//
// Every answer is a [Bracket] rounded outward; a guarantee may rest on its upper
// end alone. What an accountant does not support is refused with
// [ErrUnsupported], by name, and what it cannot certify with [ErrUncertified].
//
// # What is supported
//
// R is ReplaceOne, A is AddRemoveOne. "Exact" brackets are some 1e-13 wide,
// "bracket" holds the truth between two certified bounds, "upper" bounds from
// above with a lower end of 0, and a dash is a refusal.
//
//	event                                     ClosedForm       PLD              RDP
//	gaussian, composed with its like          exact  R A       exact    R A     upper R A
//	gdp, composed with gaussian               exact  R A       exact    R A     upper R A
//	tree_aggregation, with gaussian           bracket R A (7)  bracket  R A (7) upper R A
//	zcdp, rdp_curve                           -                -                upper R A
//	select_best, of what RDP takes (6)        -                -                upper R A
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
// (1) A single run of it and nothing else; composed it has no closed form.
// (2) A single run on vectors of few worst differences, and any tree where sigma is so
// large that the noise is nearly continuous; see docs/proofs/pld.md.
// (3) In one dimension, of few worst differences, or of a large sigma. For all others New turns to RDP.
// (4) A monotone report_noisy_max under A alone.
// (5) Where no loss is infinite.
// (6) Where it has no delta of its own.
// (7) Exact in one tree; with restarts and several participations the ends may differ.
// (8) [FixDelta] makes an approximate_dp event of it that composes, at a part of delta that is
// fixed when it is charged.
// (9) Narrow where samples are rarely cut, or nearly always; else the ends are far apart.
//
// A [Filter] takes, under its Gaussian rule, trees of Gaussians and tree_aggregation; under its Renyi
// rule, what RDP takes; and under its basic rule, or from its reserve, anything
// that is (epsilon, delta) by definition or, at a fixed delta, that New takes.
//
// Sources: Balle and Wang 2018 (Gaussian profile); Dong, Roth and Su 2022 (mu);
// Mironov 2017 and Mironov, Talwar, Zhang 2019 (Renyi); Canonne, Kamath, Steinke
// 2020 (conversion, discrete Gaussian); Durfee and Rogers 2019, Dong, Durfee, Rogers
// 2020, McKenna and Sheldon 2020, Papernot and Steinke 2022 (choices); Chan, Shi, Song 2011 and Kairouz et al. 2021 (trees); Feldman, McMillan, Talwar 2021 (shuffling); Zhu, Dong, Wang 2022 (dominating pairs);
// Smith and Thakurta 2022, Koskela, Tobaben, Honkela 2023, Feldman and Zrnic
// 2021, Rogers et al. 2016, Vadhan and Zhang 2023 (filters). The proofs of the
// numerics are in docs/proofs/accounting.md.
package account
