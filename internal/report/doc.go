// Package report renders a release of package evaluate as one page that can be
// printed, mailed and archived.
//
// [Write] renders a release:
//
//	err := report.Write(w, release)
//
// The page is a single HTML file with its style and charts inline. It loads
// nothing, runs no script, and needs no network. It is written for two readers:
// the data steward who decides whether to publish, and the recipient who judges
// the number. Whatever would stop a careful steward (an uncharged ledger, seeded
// or fast noise, no privacy at all) stands in a box at the top.
//
// [WriteLook] makes a page of another kind, for the curator of the data before
// anything is spent. It shows the data as they are and must not be shared.
//
// # What the page says
//
// The page shows what the release holds and what follows from it by arithmetic,
// and nothing else: it never opens data, ledgers or the network, and it does not
// recompute the guarantee. What it says of a budget is what the release says, as of
// its charge; a release that claims a charge and names no entry is shown as
// uncharged. A field that the release leaves empty has no place on the page. Errors
// and values are in units of a return, or of the time where the release is of
// survival. The guarantee is stated for the unit and the adjacency of the release;
// each of its sentences restates
// a theorem:
//
//   - (epsilon, delta) bounds the probability of every outcome: Dwork, McSherry,
//     Nissim and Smith 2006; Dwork et al. 2006 ("Our data, ourselves").
//   - the best guess between two equally likely neighbours is right with
//     probability at most (e^epsilon + delta)/(1 + e^epsilon): Kairouz, Oh and
//     Viswanath 2015, from the privacy region.
//   - k persons together are protected at k epsilon, with delta multiplied by
//     (e^(k epsilon) - 1)/(e^epsilon - 1): Vadhan 2017, the sum behind Lemma 2.2.
//
// Bounds on the page are rounded away from the flattering side.
package report
