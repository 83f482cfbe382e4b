// Package balle16 reproduces Balle, Gomrokchi and Precup, Differentially Private
// Policy Evaluation (ICML 2016): the four plots of its Figure 1 and its utility
// theorems 11 and 32, as printed and corrected, against measurement.
//
// Start with
//
//	done, err := figure.Run(ctx, balle16.Study(), figure.Options{Dir: "out", Quick: true})
//
// Every private estimator runs three times over: with the constants of the paper
// (Lemma 1), labelled with the epsilon that they truly give; with constants
// calibrated exactly to the same budget; and as dp-refine. Unit: a person with
// one trajectory. Adjacency: replace-one. Budget: epsilon 0.1, delta 0.1 as in
// the paper, a delta that protects nobody. Errors are root mean squares over the
// 40 states, in units of a return.
package balle16
