//go:build slow && measure

package truthbench_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
)

var (
	functionMethods = flag.String("function-methods", "dp-refine,dp-lsw,dp-lsl", "methods of value functions, with parameters at their defaults")
	functionPersons = flag.String("function-persons", "1000,3000,20000", "numbers of persons")
)

// functionErrors are those of a method over logs.
type functionErrors struct {
	n, rmse, square, common  float64
	held, states, deviations float64
}

func (e *functionErrors) add(f truthbench.Function, r *evaluate.Release) {
	sum, common := 0.0, 0.0
	sd, _ := r.Diagnostics["std_by_coordinate"].([]float64)
	for s, v := range r.Values {
		d := v - f.V[s]
		sum += d * d
		common += d / float64(len(f.V))
		if sd != nil {
			e.states++
			e.deviations += sd[s] * sd[s]
			if math.Abs(d) <= 1.96*sd[s] {
				e.held++
			}
		}
	}
	x := math.Sqrt(sum / float64(len(f.V)))
	e.n++
	e.rmse += x
	e.square += x * x
	e.common += common
}

func (e *functionErrors) String() string {
	mean := e.rmse / e.n
	return fmt.Sprintf("%.4g\t%.2g\t%+.3f\t%.1f\t%.3g", mean, math.Sqrt(max(e.square/e.n-mean*mean, 0)/(e.n-1)), e.common/e.n, 100*e.held/e.states, math.Sqrt(e.deviations/e.states))
}

// constants are the errors of answering with the middle of the public range, and
// with the mean of the values, which nobody knows beforehand.
func constants(f truthbench.Function, mid float64) (middle, best float64) {
	n, mean := float64(len(f.V)), 0.0
	for _, v := range f.V {
		mean += v / n
		middle += (v - mid) * (v - mid) / n
	}
	for _, v := range f.V {
		best += (v - mean) * (v - mean) / n
	}
	return math.Sqrt(middle), math.Sqrt(best)
}

// TestFunctionBench prints the errors of private value functions, how often their
// bands' standard deviations hold the values, and the expected error. It judges
// nothing.
func TestFunctionBench(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tmethod\tRMSE\ts.e.\tmean error\tcovered %\tsd\texpected")
	for _, text := range strings.Split(*functionPersons, ",") {
		n := int(number(t, text))
		for _, f := range truthbench.Functions() {
			if !asked(t, f.Name) {
				continue
			}
			middle, best := constants(f, f.Public(n, 1, dp.ReplaceOne).Returns().Mid())
			fmt.Printf("%s\t%d\t-\tmiddle %.4g, mean of the values %.4g\n", f.Name, n, middle, best)
			for _, eps := range strings.Split(*epsilons, ",") {
				for _, name := range strings.Split(*functionMethods, ",") {
					e, err := evaluate.New(name, nil)
					check(t, err)
					plan, err := e.Plan(f.Public(n, number(t, eps), dp.ReplaceOne))
					check(t, err)
					fmt.Printf("%s\t%d\t%s\t%s\t%s\t%.3g\n", f.Name, n, eps, name, functionCell(t, f, plan, n), plan.Expected.RMSE)
				}
			}
		}
	}
}

// functionCell runs a plan on so many logs.
func functionCell(t *testing.T, f truthbench.Function, plan *evaluate.Plan, persons int) *functionErrors {
	src := noise.NewSeeded(uint64(persons))
	var found functionErrors
	for seed := range *draws {
		ready, err := plan.Check(context.Background(), f.Draw(persons, uint64(seed)))
		check(t, err)
		r, err := ready.Run(context.Background(), receipt.None(), src)
		check(t, err)
		found.add(f, r)
	}
	return &found
}
