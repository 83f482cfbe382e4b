//go:build slow && measure

package evaluate_test

import (
	"regexp"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
)

// TestLearningUnrecordedTable is TestLearningOfSeveral where probabilities are estimated: what is gained, how often a
// certificate over the best constant action and over the logged policy is too high, and how often one is above 0.
func TestLearningUnrecordedTable(t *testing.T) {
	_, chains := held()
	all := append(append(processes(), chains...), short(), random("garnet, 5 x 2, 2 decisions", 5, 2, 2, 5), random("garnet, 8 x 3, 2 decisions", 8, 3, 2, 7))
	only := regexp.MustCompile(*gridOnly)
	for i, w := range all {
		if w = w.unrecorded(uint64(i)); !only.MatchString(w.name) {
			continue
		}
		for _, persons := range []int{2000, 20000} {
			for _, epsilon := range []float64{1, 5} {
				p := w.withheld(persons, epsilon)
				gained, high, shown := 0.0, [2]int{}, [2]int{}
				for log := range *learnLogs {
					_, r := released(t, evaluate.DPLearn{}, p, bare(w.draw(persons, uint64(log)+1e5)), uint64(log)*7+uint64(persons))
					gained += w.recovered(r.Learned.Policy) / float64(*learnLogs)
					rule := w.worth(&r.Learned.Policy, false)
					for j, c := range [2][2]float64{{r.Learned.OverConstant, w.top()}, {r.Learned.OverLogged, w.worth(nil, false)}} {
						if c[0] > rule-c[1]+1e-9 {
							high[j]++
						}
						if c[0] > 0 {
							shown[j]++
						}
					}
				}
				per := 100 / float64(*learnLogs)
				t.Logf("| %s | %d | %v | %.2f | too high %d, %d | %.0f%%, %.0f%% |", w.name, persons, epsilon, gained, high[0], high[1], per*float64(shown[0]), per*float64(shown[1]))
			}
		}
	}
}
