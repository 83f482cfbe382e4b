//go:build slow && measure

package evaluate_test

import (
	"flag"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

var (
	learnLogs  = flag.Int("learn-logs", 400, "logs a cell")
	learnTrial = flag.String("learn-trial", "", "one trial alone")
)

// TestLearningTable prints, for each trial: the share of what the best rule gains over the best
// arm that the learned one gains, how often the certificate is too high, and how often it is
// above 0. Epsilon 5,000 stands for no privacy.
func TestLearningTable(t *testing.T) {
	wrong, all, worst := 0, 0, 0
	for _, w := range trialWorlds() {
		if *learnTrial != "" && *learnTrial != w.name {
			continue
		}
		_, arms, logged, best := w.worth(evaluate.PolicyFile{Nodes: []policy.Node{{Probs: []float64{1, 0}}}})
		t.Logf("%s: the best rule gains %.3f over the best arm and %.3f over the logged policy", w.name, best-slices.Max(arms), best-logged)
		for _, n := range []int{500, 2000, 6000, 20000} {
			for _, epsilon := range []float64{0.5, 1, 5, 5000} {
				recovered, high, highLogged, shown, mean := 0.0, 0, 0, 0, 0.0
				for log := range *learnLogs {
					_, r := released(t, w.learner(), w.public(n, epsilon, dp.ReplaceOne), w.draw(n, uint64(log)), uint64(log)*7+uint64(n))
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
				}
				wrong, all, worst = wrong+high+highLogged, all+2**learnLogs, max(worst, high, highLogged)
				per := 100 / float64(*learnLogs)
				t.Logf("| %s | %d | %v | %.2f | %.1f%%, %.1f%% | %.0f%% | %.3f |", w.name, n, epsilon, recovered, per*float64(high), per*float64(highLogged), per*float64(shown), mean)
			}
		}
	}
	chance := 1 - distuv.Binomial{N: float64(*learnLogs), P: 0.05}.CDF(float64(worst-1))
	cells := float64(all / *learnLogs)
	t.Logf("the worst of %.0f counts of a true 5%% is %d or more with probability %.2f", cells, worst, 1-math.Pow(1-chance, cells))
	t.Logf("too high: %.2f%% of all, %d of %d in the worst cell", 100*float64(wrong)/float64(all), worst, *learnLogs)
}

// TestLearningOfSeveralDecisions prints the share of what the best policy gains over the logged
// one, how often a certificate is too high, and its mean.
func TestLearningOfSeveralDecisions(t *testing.T) {
	for _, w := range processes() {
		for _, n := range []int{2000, 6000, 20000} {
			for _, epsilon := range []float64{0.5, 1, 5, 5000} {
				recovered, high, mean := 0.0, 0, 0.0
				for log := range *learnLogs {
					_, r := released(t, evaluate.DPLearn{}, w.public(n, epsilon), w.draw(n, uint64(log)), uint64(log))
					recovered += w.recovered(r.Learned.Policy) / float64(*learnLogs)
					if r.Learned.OverLogged > w.worth(&r.Learned.Policy, false)-w.worth(nil, false) {
						high++
					}
					mean += r.Learned.OverLogged / float64(*learnLogs)
				}
				t.Logf("| %s | %d | %v | %.2f | %d | %.3f |", w.name, n, epsilon, recovered, high, mean)
			}
		}
	}
}
