//go:build slow && measure

package evaluate_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
)

// TestBudgetTable prints, for each trial, what the learned rule that treats at most a given share
// gains over treating nobody, of what the best such rule does, the share that it treats, and
// in how many logs that is too large.
func TestBudgetTable(t *testing.T) {
	for _, w := range trialWorlds()[:4] {
		best := w.budgeted(w.learnBudget())
		for _, n := range []int{2000, 6000, 20000} {
			for _, epsilon := range []float64{1, 5} {
				gained, treats, over := 0.0, 0.0, 0
				for log := range *learnLogs {
					m := w.learner()
					m.Budget = w.learnBudget()
					_, r := released(t, m, w.public(n, epsilon, dp.ReplaceOne), w.draw(n, uint64(log)), uint64(log)*7+uint64(n))
					rule, arms, _, _ := w.worth(r.Learned.Policy)
					share := w.treated(r.Learned.Policy)
					gained, treats = gained+(rule-arms[0])/best/float64(*learnLogs), treats+share/float64(*learnLogs)
					if share > m.Budget+0.004 {
						over++
					}
				}
				t.Logf("| %s | %d | %v | %.2f | %.2f | %.1f%% |", w.name, n, epsilon, gained, treats, 100*float64(over)/float64(*learnLogs))
			}
		}
	}
}

// budgeted is what the best rule gains over treating nobody that treats so large a share.
func (w trialWorld) budgeted(share float64) (gain float64) {
	const points = 20000
	r := rand.New(rand.NewPCG(5, 5))
	benefits := make([]float64, points)
	for i := range benefits {
		x := w.point(r)
		for a := range w.arms {
			benefits[i] = max(benefits[i], w.success(x, a)-w.success(x, 0))
		}
	}
	slices.Sort(benefits)
	for _, b := range benefits[int((1-share)*points):] {
		gain += b / points
	}
	return gain
}
