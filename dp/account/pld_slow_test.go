//go:build slow

package account_test

import (
	"flag"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

var everyQuestion = flag.Bool("questions", false, "ask all 1440 questions of the accountant's range, not every seventh")

// TestPLDIsTightOverItsWholeRange asks every seventh of 1440 questions about sampled
// Gaussian noise, or all. Every bracket must be ordered and not lie above the Renyi accountant's
// bound, and it must be at most two per cent wide, or 1e-5 where epsilon is near 0
// (1e-4 at the rarest samples), while epsilon means anything.
func TestPLDIsTightOverItsWholeRange(t *testing.T) {
	i := 0
	for _, adj := range []dp.Adjacency{dp.AddRemoveOne, dp.ReplaceOne} {
		for _, rate := range []float64{1e-9, 1e-7, 1e-5, 1e-3, 0.1, 0.9} {
			for _, noise := range []float64{0.3, 0.5, 1, 3, 20} {
				for _, count := range []int64{1, 3, 10, 1000, 1e6, 1e9} {
					for _, delta := range []float64{1e-3, 1e-6, 1e-10, 1e-15} {
						if i++; i%7 != 0 && !*everyQuestion {
							continue
						}
						b := ask(t, adj, sgd(rate, noise), count, "epsilon", 0, delta)
						if b.Lower > b.Upper || b.Upper < 1e3 && b.Upper > b.Lower*1.02 && b.Upper > b.Lower+max(1e-5, 1e-13/rate) {
							t.Errorf("%v, rate %v, noise %v, %d runs, delta %v: %v", adj, rate, noise, count, delta, b)
						}
						r := account.NewRDP(adj)
						if r.Compose(t.Context(), sgd(rate, noise), count) != nil {
							continue
						}
						if bound, err := r.Epsilon(t.Context(), delta); err == nil && bound.Upper < b.Lower {
							t.Errorf("%v, rate %v, noise %v, %d runs, delta %v: %v, but Renyi %v", adj, rate, noise, count, delta, b, bound)
						}
					}
				}
			}
		}
	}
}
