//go:build slow && measure

package truthbench_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// rival is a method of value functions with the error it expects and makes.
type rival struct {
	name     string
	plan     *evaluate.Plan
	expected float64
	square   float64
}

// TestAutoRegret prints, over the benchmark problems of value functions and the worlds that break what
// bands suppose, what auto chose, the errors that were expected and made by each method it
// may choose, and its regret: the error of its choice over the least of all, the middle of
// the public range included. It judges nothing.
func TestAutoRegret(t *testing.T) {
	fmt.Println("| problem | persons | epsilon | chosen | dp-refine, expected / made | dp-lsw | dp-lsl | middle | regret |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, bench := range []struct {
		name  string
		cells []truthbench.Function
	}{{"bench", truthbench.Functions()}, {"worlds", truthbench.Worlds()}} {
		var all []float64
		for _, f := range bench.cells {
			for _, n := range strings.Split(*functionPersons, ",") {
				for _, epsilon := range strings.Split(*epsilons, ",") {
					if asked(t, f.Name) {
						all = append(all, regretOf(t, f, int(number(t, n)), number(t, epsilon)))
					}
				}
			}
		}
		slices.Sort(all)
		if len(all) > 0 {
			fmt.Printf("%s: %d cells, median %.2f, 90%% %.2f, worst %.2f\n", bench.name, len(all), all[len(all)/2], all[len(all)*9/10], all[len(all)-1])
		}
	}
}

func regretOf(t *testing.T, f truthbench.Function, persons int, epsilon float64) float64 {
	public := f.Public(persons, epsilon, dp.ReplaceOne)
	var rivals []*rival
	for _, name := range []string{"dp-refine", "dp-lsw", "dp-lsl"} {
		e, err := evaluate.New(name, nil)
		check(t, err)
		plan, err := e.Plan(public)
		check(t, err)
		rivals = append(rivals, &rival{name: name, plan: plan, expected: plan.Expected.RMSE})
	}
	chosen, err := evaluate.Auto{}.Plan(public)
	check(t, err)
	middle, _ := constants(f, public.Returns().Mid())
	src := noise.NewSeeded(uint64(persons))
	for seed := range *draws {
		d := f.Draw(persons, uint64(seed))
		for _, r := range rivals {
			r.square += squareError(t, f, r.plan, d, src) / float64(*draws)
		}
	}
	best, mine, row := middle, middle, ""
	for _, r := range rivals {
		made := math.Sqrt(r.square)
		best = min(best, made)
		if r.name == chosen.Method {
			mine = made
		}
		row += fmt.Sprintf(" %.3g / %.3g |", r.expected, made)
	}
	fmt.Printf("| %s | %d | %g | %s |%s %.3g | %.2f |\n", f.Name, persons, epsilon, chosen.Method, row, middle, mine/best)
	return mine / best
}

// squareError is that of one release, mean over states.
func squareError(t *testing.T, f truthbench.Function, plan *evaluate.Plan, d *trajectory.Dataset, src *noise.Source) float64 {
	ready, err := plan.Check(context.Background(), d)
	check(t, err)
	r, err := ready.Run(context.Background(), receipt.None(), src)
	check(t, err)
	sum := 0.0
	for s, v := range r.Values {
		sum += (v - f.V[s]) * (v - f.V[s]) / float64(len(f.V))
	}
	return sum
}
