//go:build slow && measure

package evaluate_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

var selectionLogs = flag.Int("selection-logs", 400, "logs a row")

// argmax is how often the largest mean reward of k actions names the last one: where several have it, one of
// them is named at random.
func argmax(d *trajectory.Dataset, k int) float64 {
	sums, counts := make([]float64, k), make([]float64, k)
	for i, a := range d.Action {
		sums[a] += d.Reward[i]
		counts[a]++
	}
	floats.Div(sums, counts)
	most, ties := slices.Max(sums), 0.0
	for _, mean := range sums {
		if mean == most {
			ties++
		}
	}
	if sums[k-1] == most {
		return 1 / ties
	}
	return 0
}

// TestSelectionTable prints how often the best of several constant policies is named in the same logs by values and intervals of all
// (best_by_value), by permute-and-flip, and by the largest mean without privacy, with what a plan expects of the first two. It judges nothing.
func TestSelectionTable(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tbest_by_value\tplan (limits)\tpermute-and-flip\tplan\targmax")
	for i, problem := range []struct {
		name string
		paid []float64
	}{
		{"two actions, .50 and .60", []float64{0.5, 0.6}},
		{"two actions, .010 and .014", []float64{0.010, 0.014}},
		{"four actions, .40 to .55", []float64{0.40, 0.45, 0.50, 0.55}},
		{"eight actions, .50 but one .60", []float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6}},
	} {
		k := len(problem.paid)
		var policies []evaluate.NamedPolicy
		var levels []string
		var targets []policy.Policy
		for a := range k {
			targets = append(targets, must(policy.NewConstant(a)))
			levels = append(levels, fmt.Sprint("action ", a))
			policies = append(policies, evaluate.NamedPolicy{Name: levels[a], Policy: targets[a]})
		}
		best := levels[k-1]
		mean := floats.Sum(problem.paid) / float64(k)
		for _, persons := range []int{500, 5000} {
			for _, epsilon := range []float64{0.2, 1} {
				p := banditPublic(t, int64(persons), dp.ReplaceOne, nil)
				p.Privacy.Budget.Epsilon = epsilon
				p.Design, p.Complete = evaluate.NewDesign(must(policy.NewUniform(k)), true, targets...), true
				p.Targets = &evaluate.Targets{Policies: policies, Levels: levels, Best: true}
				byValue := must(evaluate.DPWIS{}.Plan(p))
				p.Targets = &evaluate.Targets{Policies: policies, Levels: levels, Best: true,
					Choose: &evaluate.Choice{By: "permute-and-flip", Gap: problem.paid[k-1] - problem.paid[k-2], Value: &mean}}
				byFlip := must(evaluate.DPWIS{}.Plan(p))
				told := byFlip.Facts["choice"].(*evaluate.ChoiceForecast)
				rng := rand.New(rand.NewPCG(uint64(i), uint64(persons)))
				var named [3]float64
				for range *selectionLogs {
					d := paidArms(rng, persons, problem.paid)
					log := rng.Uint64()
					answers := runOf(t, byValue, d, noise.NewSeeded(log)).Answers
					for j, right := range []bool{answers[len(answers)-1].Selection.BestByValue == best, runOf(t, byFlip, d, noise.NewSeeded(log)).Answers[0].Pick.Policy == best} {
						if right {
							named[j] += 1 / float64(*selectionLogs)
						}
					}
					named[2] += argmax(d, k) / float64(*selectionLogs)
				}
				fmt.Printf("%s\t%d\t%g\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\n", problem.name, persons, epsilon, named[0], told.Limits, named[1], told.Flip, named[2])
			}
		}
	}
}
