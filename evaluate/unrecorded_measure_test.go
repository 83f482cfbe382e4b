//go:build slow && measure

package evaluate_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

var (
	unrecordedLogs    = flag.Int("unrecorded-logs", 500, "logs a cell")
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

// bettingEnd is a lower confidence limit, at half of 5%, of the mean of numbers in [0, 1]: the least m
// that a capital which bets on more, with stakes that follow from earlier numbers (Waudby-Smith and
// Ramdas 2024, hedged capital), does not exclude.
func bettingEnd(x []float64) float64 {
	const wins = 2 / 0.05
	stakes := make([]float64, len(x))
	sum, square := 0.5, 0.25
	for i, v := range x {
		stakes[i] = math.Sqrt(2 * math.Log(wins) / (float64(len(x)) * square / float64(i+1)))
		sum += v
		mean := sum / float64(i+2)
		square += (v - mean) * (v - mean)
	}
	excluded := func(m float64) bool {
		capital := 0.0
		for i, v := range x {
			capital += math.Log1p(min(stakes[i], 0.5/m) * (v - m))
		}
		return capital >= math.Log(wins)
	}
	low, high := 0.0, 1.0
	for range 30 {
		if m := (low + high) / 2; excluded(m) {
			low = m
		} else {
			high = m
		}
	}
	return low
}

// bettingOf is a 95% interval of a policy's value without privacy, from weights up to most.
func bettingOf(rng *rand.Rand, d *trajectory.Dataset, of policy.Policy, most float64) [2]float64 {
	w := make([]float64, d.Rows())
	if err := policy.Ratios(w, of, d); err != nil {
		panic(err)
	}
	gained, missed := make([]float64, len(w)), make([]float64, len(w))
	for i, k := range rng.Perm(len(w)) {
		gained[i], missed[i] = w[k]*d.Reward[k]/most, w[k]*(1-d.Reward[k])/most
	}
	return [2]float64{most * bettingEnd(gained), 1 - most*bettingEnd(missed)}
}

// resampled is the 95% percentile bootstrap of a self-normalised mean, without privacy (WPDIS, which of one
// decision is WIS).
func resampled(rng *rand.Rand, d *trajectory.Dataset, of policy.Policy) [2]float64 {
	w := make([]float64, d.Rows())
	if err := policy.Ratios(w, of, d); err != nil {
		panic(err)
	}
	out := make([]float64, 200)
	for k := range out {
		sum, gained := 0.0, 0.0
		for range w {
			i := rng.IntN(len(w))
			sum, gained = sum+w[i], gained+w[i]*d.Reward[i]
		}
		out[k] = gained / sum
	}
	slices.Sort(out)
	return [2]float64{(out[4] + out[5]) / 2, (out[194] + out[195]) / 2}
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
// probabilities; from recorded ones; and without privacy from these, on every tenth log, a bootstrap and a betting interval. It
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
					held, width, before := make([]int, len(kinds)), make([]float64, len(kinds)), make([]int, len(kinds))
					for i := range kinds {
						width[i], before[i] = -kinds[i].width, kinds[i].logs
					}
					for log := range *unrecordedLogs {
						d, src := w.log(t, persons, rng), noise.NewSeeded(uint64(log))
						intervals := [][2]float64{
							run(t, evaluate.DPWIS{}, hidden, bare(d), src).Answers[0].Estimate.Interval,
							run(t, evaluate.DPWIS{Clip: "auto"}, hidden, bare(d), src).Answers[0].Estimate.Interval,
							run(t, evaluate.DPWIS{}, recorded, d, src).Answers[0].Estimate.Interval,
						}
						if log%10 == 0 {
							intervals = append(intervals, resampled(rng, d, w.new), bettingOf(rng, d, w.new, most))
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
