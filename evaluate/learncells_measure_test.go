//go:build slow && measure

package evaluate_test

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

// TestLearningByCellTable is TestLearningTable where probabilities are estimated, beside the same learner that is told them.
func TestLearningByCellTable(t *testing.T) {
	w := clinic()
	_, constant, logged, best := worthInClinic(w, evaluate.PolicyFile{Weights: [][]float64{{0}, {1}}, Intercept: []float64{0, 0}})
	t.Logf("%s: the best rule gains %.3f over the best action and %.3f over the logged policy", w.name, best-constant, best-logged)
	for _, n := range []int{2000, 6000, 20000} {
		for _, epsilon := range []float64{1, 5, 5000} {
			for _, told := range []bool{false, true} {
				p := clinicFacts(w, n, epsilon, dp.ReplaceOne)
				if told {
					p.Behavior = nil
				}
				if _, err := (evaluate.DPLearn{}).Plan(p); err != nil {
					t.Logf("| %d | %v | %v |", n, epsilon, err)
					continue
				}
				gained, high, highLogged, shown, shownLogged := 0.0, 0, 0, 0, 0
				for log := range *learnLogs {
					d := clinicLog(w, n, uint64(log))
					for row := 0; told && row < d.Rows(); row++ {
						chance := taken(d.Obs[row])
						if d.Action[row] == 0 {
							chance = 1 - chance
						}
						d.BehaviorProb = append(d.BehaviorProb, chance)
					}
					_, r := released(t, evaluate.DPLearn{}, p, d, uint64(log)*7+uint64(n))
					rule, constant, logged, best := worthInClinic(w, r.Learned.Policy)
					gained += (rule - logged) / (best - logged) / float64(*learnLogs)
					if r.Learned.OverConstant > rule-constant+1e-9 {
						high++
					}
					if r.Learned.OverLogged > rule-logged+1e-9 {
						highLogged++
					}
					if r.Learned.OverConstant > 0 {
						shown++
					}
					if r.Learned.OverLogged > 0 {
						shownLogged++
					}
				}
				per := 100 / float64(*learnLogs)
				t.Logf("| %d | %v | told %v | %.2f | %.1f%%, %.1f%% | %.0f%%, %.0f%% |", n, epsilon, told, gained, per*float64(high), per*float64(highLogged), per*float64(shown), per*float64(shownLogged))
			}
		}
	}
}
