// Package report renders a release of package evaluate as one page that can be
// printed, mailed and archived:
//
//	err := report.Write(w, release)
//
// The page is a single HTML file with its style and charts inline. It loads
// nothing, runs no script, and needs no network. It shows what the release holds and
// what follows from it by arithmetic, and nothing else: it never opens data or
// ledgers, and does not recompute the guarantee. Whatever would stop a careful
// steward (an uncharged ledger, seeded or fast noise, no privacy at all) stands in a
// box at the top. Bounds on the page are rounded away from the flattering side.
package report

import (
	"io"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// ErrRelease marks a release that cannot be rendered: it is missing, of another
// schema, or holds a number that is not finite.
var ErrRelease = report.ErrRelease

// Write renders r as one self-contained HTML page. Nothing is written to w
// unless the whole page could be made. Errors wrap [ErrRelease], except those of
// w itself.
func Write(w io.Writer, r *evaluate.Release) error { return report.Write(w, r) }
