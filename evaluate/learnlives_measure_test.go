//go:build slow && measure

package evaluate_test

import (
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestLearningLivesTable is TestLearningTable for times under censoring, with and without what is
// assumed of it.
func TestLearningLivesTable(t *testing.T) {
	for _, w := range lifeWorlds() {
		if *learnTrial != "" && *learnTrial != w.name {
			continue
		}
		_, arms, logged, best := w.worth(evaluate.PolicyFile{Nodes: []policy.Node{{Probs: []float64{1, 0}}}})
		t.Logf("%s: the best rule gains %.3f over the best arm and %.3f over the logged policy", w.name, best-slices.Max(arms), best-logged)
		for _, n := range []int{500, 2000, 6000} {
			for _, epsilon := range []float64{1, 5, 5000} {
				recovered, high, highLogged, shown, shownAny, mean := 0.0, 0, 0, 0, 0, 0.0
				for log := range *learnLogs {
					d, seed := w.draw(n, uint64(log)), uint64(log)*7+uint64(n)
					p := w.public(n, epsilon, dp.ReplaceOne)
					_, r := released(t, w.learner(), p, d, seed)
					rule, arms, logged, best := w.worth(r.Learned.Policy)
					top := slices.Max(arms)
					if best > top+1e-9 {
						recovered += (rule - logged) / (best - logged) / float64(*learnLogs)
					}
					if r.Learned.OverConstant > rule-top+1e-9 {
						high++
					}
					if r.Learned.OverLogged > rule-logged+1e-9 {
						highLogged++
					}
					if r.Learned.OverConstant > 0 {
						shown++
					}
					mean += r.Learned.OverConstant / float64(*learnLogs)
					p.Outcome.Censoring = "any"
					if _, r := released(t, w.learner(), p, d, seed); r.Learned.OverConstant > 0 {
						shownAny++
					}
				}
				per := 100 / float64(*learnLogs)
				t.Logf("| %s | %d | %v | %.2f | %.1f%%, %.1f%% | %.0f%% | %.3f | %.0f%% |", w.name, n, epsilon, recovered, per*float64(high), per*float64(highLogged), per*float64(shown), mean, per*float64(shownAny))
			}
		}
	}
}
