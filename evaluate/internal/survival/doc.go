// Package survival holds the numerics of survival from noisy cells: what one person adds to
// which cell, and the curves, cumulative incidences, restricted means and medians that follow
// from noisy counts, with their intervals.
//
// A person counts once, in the cell of their arm, of the bin in which they left, and of the
// cause for which they left, censoring among them. Everything else is post-processing of the
// noisy counts: numbers at risk are sums of later cells, hazards are ratios, and the error of
// every quantity follows from its derivatives with respect to the cells. docs/proofs/survival.md
// has the argument.
package survival
