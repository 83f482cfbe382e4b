//go:build slow && measure

package truthbench_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// part is the budget that allows mu^2/n.
func part(t *testing.T, b dp.Budget, n int) dp.Budget {
	mu, err := account.GaussianMu(b)
	check(t, err)
	low, high := 0.0, b.Epsilon
	for range 60 {
		middle := (low + high) / 2
		found, err := account.GaussianMu(dp.Budget{Epsilon: middle, Delta: b.Delta})
		check(t, err)
		if found.Lower < mu.Lower/math.Sqrt(float64(n)) {
			low = middle
		} else {
			high = middle
		}
	}
	return dp.Budget{Epsilon: high, Delta: b.Delta}
}

// TestGroups prints, for problems of the benchmark, how often the intervals of four groups all
// hold, and the width of each: of one release under each guarantee, and of four releases of
// the persons of one group each, which know the sizes and have a quarter of mu^2 each. It
// judges nothing.
func TestGroups(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tasked\tdraws\tall hold %\twidths")
	for _, text := range strings.Split(*persons, ",") {
		n := int(number(t, text))
		for _, p := range truthbench.Problems() {
			if !asked(t, p.Name) {
				continue
			}
			for _, text := range strings.Split(*epsilons, ",") {
				epsilon := number(t, text)
				for _, c := range promises {
					plan, err := evaluate.Auto{}.Plan(groupsPublic(p, n, epsilon, c.adjacency, c.fixed))
					check(t, err)
					tellGroups(p, n, epsilon, "one release, "+c.name, func(d *trajectory.Dataset, src *noise.Source) (out [][2]float64) {
						for _, a := range released(t, plan, d, src).Answers {
							out = append(out, a.Estimate.Interval)
						}
						return out
					})
				}
				var plans []*evaluate.Plan
				for _, size := range groupSizes(n) {
					public := p.Public(size, epsilon, dp.ReplaceOne)
					public.Privacy.Budget = part(t, public.Privacy.Budget, len(groupShares))
					plan, err := evaluate.Auto{}.Plan(public)
					check(t, err)
					plans = append(plans, plan)
				}
				tellGroups(p, n, epsilon, "four releases, sizes known", func(d *trajectory.Dataset, src *noise.Source) (out [][2]float64) {
					column := d.Column("obs_group")
					for g, plan := range plans {
						var persons []int
						for person := range d.Persons() {
							if d.Observation(d.EpisodeStart[d.PersonStart[person]])[column] == float64(g) {
								persons = append(persons, person)
							}
						}
						of := d.Take(persons)
						out = append(out, released(t, plan, of, src).Answers[0].Estimate.Interval)
					}
					return out
				})
			}
		}
	}
}

func tellGroups(p truthbench.Problem, n int, epsilon float64, asked string, answer func(*trajectory.Dataset, *noise.Source) [][2]float64) {
	src := noise.NewSeeded(uint64(n))
	held, widths := 0, make([]float64, len(groupShares))
	for seed := range *draws {
		all := true
		for g, x := range answer(inGroups(p, n, uint64(seed)), src) {
			all = all && x[0] <= p.J && p.J <= x[1]
			widths[g] += (x[1] - x[0]) / float64(*draws)
		}
		if all {
			held++
		}
	}
	fmt.Printf("%s\t%d\t%g\t%s\t%d\t%.1f", p.Name, n, epsilon, asked, *draws, 100*float64(held)/float64(*draws))
	for _, w := range widths {
		fmt.Printf("\t%.4g", w)
	}
	fmt.Println()
}
