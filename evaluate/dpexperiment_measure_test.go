//go:build slow && measure

package evaluate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/xmath"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// abExample is the difference that a contrast of policies is measured by.
var abExample = abWorld{name: "example", shares: []float64{0.8, 0.1, 0.1}, logs: []float64{-1, -0.746, -1}, spread: 0.9, common: 0.8}

// abCell is one cell of the table.
type abCell struct {
	epsilon   float64
	adjacency dp.Adjacency
	covariate bool
	plan      *evaluate.Plan
	all, lift int
	width     float64 // half, of B - A
}

// TestExperimentTable prints the table of docs/results/experiment.md, of LOGS logs a cell, 300 by default.
func TestExperimentTable(t *testing.T) {
	logs, err := strconv.Atoi(os.Getenv("LOGS"))
	if err != nil {
		logs = 300
	}
	fmt.Println("| experiment | persons | epsilon | replace_one | with covariate | add_remove_one | with covariate | Welch | CUPED | intervals hold | lifts hold |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	held, planned, cellsInAll := 0.0, 1.0, 0.0
	for _, w := range abWorlds {
		for _, n := range []int{1000, 5000, 30000} {
			m := evaluate.DPExperiment{Control: "A", Allocation: w.allocation(), Guess: w.guess()}
			var cells []*abCell
			for _, epsilon := range []float64{0.5, 1, 5} {
				for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
					for _, covariate := range []bool{false, true} {
						plan, err := m.Plan(w.facts(int64(n), epsilon, adjacency, covariate, false))
						if err != nil {
							t.Fatal(err)
						}
						cells = append(cells, &abCell{epsilon: epsilon, adjacency: adjacency, covariate: covariate, plan: plan})
					}
				}
			}
			rng, src := rand.New(rand.NewPCG(uint64(n), 5)), noise.NewSeeded(uint64(n))
			k, welch, cuped := len(w.shares), 0.0, 0.0
			for range logs {
				l := w.draw(n, rng)
				d := l.dataset()
				for _, c := range cells {
					r := ranOn(t, c.plan, d, src)
					all, lift := w.held(r)
					if all {
						c.all++
					}
					if lift {
						c.lift++
					}
					c.width += (r.Answers[k].Estimate.Interval[1] - r.Answers[k].Estimate.Interval[0]) / 2 / float64(logs)
				}
				_, plain := l.welch(1, false)
				_, less := l.welch(1, true)
				z := xmath.NormQuantile(1 - 0.025/float64(k-1)) // together with 95% too
				welch, cuped = welch+z*plain/float64(logs), cuped+z*less/float64(logs)
			}
			for four := range slices.Chunk(cells, 4) { // of one epsilon
				least, lifts := 1.0, 1.0
				fmt.Printf("| %s | %d | %v", w.name, n, four[0].epsilon)
				for _, c := range four {
					all := float64(c.all) / float64(logs)
					least, lifts = min(least, all), min(lifts, float64(c.lift)/float64(logs))
					held, cellsInAll = held+all, cellsInAll+1
					expected := c.plan.Facts["answers"].([]evaluate.ExpectedAnswer)[k].HalfWidth
					planned = max(planned, expected/c.width, c.width/expected)
					fmt.Printf(" | %.2g", c.width)
				}
				fmt.Printf(" | %.2g | %.2g | %.1f%% | %.1f%% |\n", welch, cuped, 100*least, 100*lifts)
			}
		}
	}
	fmt.Printf("pooled over %v cells %.1f%%; planned half widths are off by a factor of %.2f at most\n", cellsInAll, 100*held/cellsInAll, planned)
}

func ranOn(t *testing.T, plan *evaluate.Plan, d *trajectory.Dataset, src *noise.Source) *evaluate.Release {
	t.Helper()
	ready, err := plan.Check(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ready.Run(context.Background(), receipt.None(), src)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestExperimentBesideTargets prints half widths of B - A beside those of two policies, each of which takes
// one arm, with the design known, of which differences alone are asked: 30,000 persons, arms 80/10/10, returns within [0, 10].
func TestExperimentBesideTargets(t *testing.T) {
	const persons, logs = 30000, 20
	w := abExample
	rng, src := rand.New(rand.NewPCG(1, 2)), noise.NewSeeded(3)
	var arms []policy.Policy
	for i := range w.shares {
		arm, err := policy.NewConstant(i)
		if err != nil {
			t.Fatal(err)
		}
		arms = append(arms, arm)
	}
	fmt.Printf("difference %.3f\n| epsilon | adjacency | dp-experiment | with covariate | two policies | Welch |\n|---|---|---|---|---|---|\n", w.truth(1)-w.truth(0))
	for _, epsilon := range []float64{0.5, 1, 5, 100} {
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			var widths [3]float64
			welch := 0.0
			for range logs {
				l := w.draw(persons, rng)
				_, se := l.welch(1, false)
				welch += xmath.NormQuantile(1-0.0125) * se / logs
				half := func(a evaluate.PolicyAnswer) float64 {
					return (a.Estimate.Interval[1] - a.Estimate.Interval[0]) / 2 / logs
				}
				for k, covariate := range []bool{false, true} {
					r := run(t, evaluate.DPExperiment{Control: "A", Allocation: w.allocation(), DifferencesOnly: true}, w.facts(persons, epsilon, adjacency, covariate, true), l.dataset(), src)
					widths[k] += half(r.Answers[0])
				}
				p := w.facts(persons, epsilon, adjacency, false, true)
				p.By = nil
				p.Target = nil
				p.Targets = &evaluate.Targets{Contrasts: [][2]string{{"B", "A"}, {"C", "A"}}}
				for i, arm := range arms {
					p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: string(rune('A' + i)), Policy: arm})
				}
				designed, err := policy.NewByStep([][]float64{w.shares})
				if err != nil {
					t.Fatal(err)
				}
				p.Design = evaluate.NewDesign(designed, true, arms...)
				r := run(t, evaluate.DPWIS{}, p, l.drawnBy(w.shares), src)
				for _, a := range r.Answers {
					if a.Name == "B - A" {
						widths[2] += half(a)
					}
				}
			}
			fmt.Printf("| %v | %v | %.4f | %.4f | %.4f | %.4f |\n", epsilon, adjacency, widths[0], widths[1], widths[2], welch)
		}
	}
}

// drawnBy is the log as one of actions, with their probabilities.
func (l abLog) drawnBy(shares []float64) *trajectory.Dataset {
	var b trajectory.Builder
	for i, y := range l.y {
		b.Add(&trajectory.Episode{Person: i, Action: []int32{int32(l.arm[i])}, BehaviorProb: []float64{shares[l.arm[i]]}, Reward: []float64{y}, Terminated: true})
	}
	return b.Dataset()
}
