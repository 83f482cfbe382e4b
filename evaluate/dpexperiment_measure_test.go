//go:build slow && measure

package evaluate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// TestExperimentTable prints the table of docs/results/experiment.md: 300 logs a cell.
func TestExperimentTable(t *testing.T) {
	const logs = 300
	fmt.Println("| world | persons | epsilon | adjacency | covariate | all hold | lift | B - A | Welch | CUPED | plan |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, w := range abWorlds {
		for _, n := range []int{1000, 5000, 30000} {
			for _, epsilon := range abBudgets {
				for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
					for _, covariate := range []bool{false, true} {
						rng, src := rand.New(rand.NewPCG(uint64(n), 5)), noise.NewSeeded(uint64(n))
						m := evaluate.DPExperiment{Control: "A", Allocation: w.allocation(), Guess: evaluate.ExperimentGuess{Mean: w.truth(0)}}
						p := w.facts(int64(n), epsilon, adjacency, covariate, false)
						plan, err := m.Plan(p)
						if err != nil {
							t.Fatal(err)
						}
						all, lift, width, welch, cuped := 0, 0, 0.0, 0.0, 0.0
						for range logs {
							l := w.draw(n, rng)
							r := run(t, m, p, l.dataset(), src)
							held, lifts := w.held(r)
							if held {
								all++
							}
							if lifts {
								lift++
							}
							k := len(w.shares)
							width += (r.Answers[k].Estimate.Interval[1] - r.Answers[k].Estimate.Interval[0]) / 2 / logs
							_, se := l.welch(1, false)
							_, less := l.welch(1, true)
							z := 1.96
							if k == 3 {
								z = 2.24
							}
							welch += z * se / logs
							cuped += z * less / logs
						}
						fmt.Printf("| %s | %d | %v | %v | %v | %.1f | %.1f | %.4f | %.4f | %.4f | %.4f |\n", w.name, n, epsilon, adjacency, covariate,
							100*float64(all)/logs, 100*float64(lift)/logs, width, welch, cuped, plan.Facts["answers"].([]evaluate.ExpectedAnswer)[len(w.shares)].HalfWidth)
					}
				}
			}
		}
	}
	_ = math.Pi
}
