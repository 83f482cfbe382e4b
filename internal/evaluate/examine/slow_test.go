//go:build slow

package examine_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
)

// TestWhatCannotBeFollowedIsSaid: smooth sensitivity is looked at from outside, and the
// report names what it did not see.
func TestWhatCannotBeFollowedIsSaid(t *testing.T) {
	r := examined(t, job(t, "dp-lsl", nil, dp.ReplaceOne, 400))
	if r.Replayed != 0 || r.Found == nil || len(r.Broken) > 0 {
		t.Errorf("replayed %d, found %+v, broken %q", r.Replayed, r.Found, r.Broken)
	}
	if !strings.Contains(strings.Join(r.Missing, "\n"), "dp-lsl is not a composition of Gaussian sums") {
		t.Errorf("not looked at: %q", r.Missing)
	}
}

var bothAdjacencies = flag.Bool("both", false, "examine every method under both adjacencies, not under one of them in turn")

// TestEveryMethodIsExamined under one adjacency or both: all mistakes are found where sums can
// be followed, nothing is refuted, and of scalar methods 90% of mu is shown.
func TestEveryMethodIsExamined(t *testing.T) {
	adjacencies := []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}
	for i, method := range []string{"dp-is", "dp-pdis", "dp-wis", "dp-dr", "dp-refine"} {
		for j, adjacency := range adjacencies {
			if i%len(adjacencies) != j && !*bothAdjacencies {
				continue
			}
			r := examined(t, job(t, method, nil, adjacency, 0))
			for _, p := range r.SelfTest {
				if !p.Found {
					t.Errorf("%s, %v: %s is not found", method, adjacency, p.Mistake)
				}
			}
			share := r.Found.Mu / r.Claim.Mu
			if len(r.Broken) > 0 || share > 1 || share < 0.6 || share < 0.9 && r.Worst > 0.99 {
				t.Errorf("%s, %v: broken %q, %.3f of mu found, worst pair %.3f of mu^2", method, adjacency, r.Broken, share, r.Worst)
			}
			t.Logf("%s, %v: %.3f of mu, worst pair %.4f of mu^2, %d runs, %.1f s", method, adjacency, share, r.Worst, r.Runs, r.Seconds)
		}
	}
}
