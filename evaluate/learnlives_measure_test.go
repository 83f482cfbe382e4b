//go:build slow && measure

package evaluate_test

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// byCensoring are times of those who are not censored, weighted by the inverse of the share that is not censored by then in
// their arm (Kaplan and Meier), of all persons and without privacy; 0 of the others.
func byCensoring(d *trajectory.Dataset, arms int) []float64 {
	out, last := make([]float64, d.Rows()), len(d.Columns)-1
	for arm := range arms {
		var rows []int
		for row, a := range d.Action {
			if int(a) == arm {
				rows = append(rows, row)
			}
		}
		slices.SortFunc(rows, func(i, j int) int {
			if d.Reward[i] < d.Reward[j] {
				return -1
			}
			return 1
		})
		stays := 1.0
		for i, row := range rows {
			event := d.Observation(row)[last] == 1
			if event || d.Reward[row] >= 1 {
				out[row] = min(d.Reward[row], 1) / stays / d.BehaviorProb[row]
			}
			if !event && d.Reward[row] < 1 {
				stays *= 1 - 1/float64(len(rows)-i)
			}
		}
	}
	return out
}

// independent is the best table, or tree of one question at an eighth, by these times.
func (w lifeWorld) independent(d *trajectory.Dataset) evaluate.PolicyFile {
	times := byCensoring(d, len(w.arms))
	leaf := func(in func(x []float64) bool) (best int, total float64) {
		sums := make([]float64, len(w.arms))
		for row, v := range times {
			if in(d.Observation(row)) {
				sums[d.Action[row]] += v
			}
		}
		total = slices.Max(sums)
		return slices.Index(sums, total), total
	}
	probs := func(arm int) []float64 {
		p := make([]float64, len(w.arms))
		p[arm] = 1
		return p
	}
	var nodes []policy.Node
	if w.covariates == 0 {
		for s := range learnStates - 1 {
			at := float64(s)
			arm, _ := leaf(func(x []float64) bool { return x[0] == at })
			nodes = append(nodes, policy.Node{Input: "obs_state", Threshold: &at, Left: len(nodes) + 1, Right: len(nodes) + 2}, policy.Node{Probs: probs(arm)})
		}
		arm, _ := leaf(func(x []float64) bool { return x[0] == learnStates-1 })
		return evaluate.PolicyFile{Nodes: append(nodes, policy.Node{Probs: probs(arm)})}
	}
	most := math.Inf(-1)
	for j, name := range w.names() {
		for bin := range 8 {
			at := float64(bin) / 8
			left, a := leaf(func(x []float64) bool { return x[j] <= at })
			right, b := leaf(func(x []float64) bool { return x[j] > at })
			if a+b > most {
				most, nodes = a+b, []policy.Node{{Input: name, Threshold: &at, Left: 1, Right: 2}, {Probs: probs(left)}, {Probs: probs(right)}}
			}
		}
	}
	return evaluate.PolicyFile{Nodes: nodes}
}

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
			if w.depth != linear && best > slices.Max(arms)+1e-9 {
				alone := 0.0
				for log := range *learnLogs {
					rule, _, _, _ := w.worth(w.independent(w.draw(n, uint64(log))))
					alone += (rule - logged) / (best - logged) / float64(*learnLogs)
				}
				t.Logf("| %s | %d | an independent learner of all persons, without privacy | %.2f |", w.name, n, alone)
			}
			for _, epsilon := range []float64{1, 5, 5000} {
				recovered, high, highLogged, shown, highAny, mean := 0.0, 0, 0, 0, 0, 0.0
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
					_, r = released(t, w.learner(), p, d, seed)
					if rule, arms, logged, _ := w.worth(r.Learned.Policy); r.Learned.OverConstant > rule-slices.Max(arms)+1e-9 || r.Learned.OverLogged > rule-logged+1e-9 {
						highAny++
					}
				}
				per := 100 / float64(*learnLogs)
				t.Logf("| %s | %d | %v | %.2f | %.1f%%, %.1f%% | %.0f%% | %.3f | %.0f%% |", w.name, n, epsilon, recovered, per*float64(high), per*float64(highLogged), per*float64(shown), mean, per*float64(highAny))
			}
		}
	}
}
