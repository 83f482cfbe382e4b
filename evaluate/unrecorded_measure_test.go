//go:build slow && measure

package evaluate_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

var (
	unrecordedLogs    = flag.Int("unrecorded-logs", 500, "logs a cell")
	unrecordedPeers   = flag.Int("unrecorded-peers", 10, "the intervals without privacy are made of every so many-th log")
	unrecordedPersons = flag.String("unrecorded-persons", "600,2000,20000", "persons")
)

// counted is how intervals of one kind do.
type counted struct {
	name       string
	logs, held int
	width      float64
	problem    []float64 // share that holds, by problem
}

func (c *counted) add(interval [2]float64, truth float64) bool {
	c.logs++
	c.width += interval[1] - interval[0]
	if interval[0] <= truth && truth <= interval[1] {
		c.held++
		return true
	}
	return false
}

// wholes reads whole numbers.
func wholes(t *testing.T, text string) (out []int) {
	for _, one := range strings.Split(text, ",") {
		out = append(out, must(strconv.Atoi(one)))
	}
	return out
}

// TestUnrecordedTable prints, for ten random problems on which nothing was tuned, what intervals of one
// policy's value do: from masses by cell and action and from upper limits of probabilities, both of logs without
// probabilities; from recorded ones; and without privacy from these, on some logs, a bootstrap and a betting interval. It
// judges nothing.
func TestUnrecordedTable(t *testing.T) {
	fmt.Println("persons\tepsilon\tadjacency\tintervals\tlogs\theld %\tleast %\twidth\tmedian of ratios to limits")
	for _, persons := range wholes(t, *unrecordedPersons) {
		for _, epsilon := range []float64{1, 5} {
			for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
				kinds := []counted{{name: "by cell"}, {name: "limits"}, {name: "recorded"}, {name: "bootstrap"}, {name: "betting"}}
				ratios := make([][]float64, len(kinds))
				for problem := range 10 {
					rng := rand.New(rand.NewPCG(uint64(problem), 8128))
					w := drawWard(rng)
					truth := w.worthOf(w.new, nil)
					most := slices.Max(evaluate.NewDesign(w.drawn, true, w.new).Ratios)
					recorded := banditPublic(t, int64(persons), adjacency, w.new)
					recorded.Privacy.Budget.Epsilon = epsilon
					hidden := recorded
					hidden.Behavior = &evaluate.EstimatedBehavior{States: len(w.often), Column: "state", Actions: w.drawn.Actions()}
					plans := []*evaluate.Plan{must(evaluate.DPWIS{}.Plan(hidden)), must(evaluate.DPWIS{Clip: "auto"}.Plan(hidden)), must(evaluate.DPWIS{}.Plan(recorded))}
					held, width, before := make([]int, len(kinds)), make([]float64, len(kinds)), make([]int, len(kinds))
					for i := range kinds {
						width[i], before[i] = -kinds[i].width, kinds[i].logs
					}
					for log := range *unrecordedLogs {
						d, src := w.log(t, persons, rng), noise.NewSeeded(uint64(log))
						var intervals [][2]float64
						for i, seen := range []*trajectory.Dataset{bare(d), bare(d), d} {
							intervals = append(intervals, runOf(t, plans[i], seen, src).Answers[0].Estimate.Interval)
						}
						if log%*unrecordedPeers == 0 {
							weighted := must(truthbench.NewWeighted(d, w.new, 1, 1))
							intervals = append(intervals, truthbench.Percentiles(truthbench.Bootstrap(rng.IntN, weighted)[0]), weighted.Betting(most))
						}
						for i, x := range intervals {
							if kinds[i].add(x, truth) {
								held[i]++
							}
						}
					}
					for i := range kinds {
						logs := float64(kinds[i].logs - before[i])
						width[i] = (width[i] + kinds[i].width) / logs
						kinds[i].problem = append(kinds[i].problem, float64(held[i])/logs)
					}
					for i := range kinds {
						ratios[i] = append(ratios[i], width[i]/width[1])
					}
				}
				for i, k := range kinds {
					slices.Sort(ratios[i])
					fmt.Printf("%d\t%g\t%v\t%s\t%d\t%.1f\t%.1f\t%.4f\t%.2f\n", persons, epsilon, adjacency, k.name, k.logs, 100*float64(k.held)/float64(k.logs),
						100*slices.Min(k.problem), k.width/float64(k.logs), (ratios[i][4]+ratios[i][5])/2)
				}
			}
		}
	}
}
