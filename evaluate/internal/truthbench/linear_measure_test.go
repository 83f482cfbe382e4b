//go:build slow && measure

package truthbench_test

import (
	"flag"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/feature"
)

var (
	linearDraws   = flag.Int("linear-draws", 40, "logs of 2000 persons")
	linearFew     = flag.Int("linear-few", 10, "logs of 20000 persons")
	linearWay     = flag.String("linear-way", ".", "regular expression of the ways' names")
	linearOnly    = flag.String("linear-only", `^(clinical (12|20) (near|far)|linear-Gaussian.*)$`, "regular expression of the problems' names")
	linearBudgets = []float64{1, 5, 1e6}
)

// linearWays are the features and forms that are asked of a problem: the observation as
// one number within its range, and, where states are numbered, one feature a state.
func linearWays(t *testing.T, p truthbench.Problem) map[string]func(*evaluate.Public) evaluate.Estimator {
	low, high := -3.0, 3.0
	if p.States > 0 {
		low, high = 0, float64(p.States-1)
	}
	number, err := feature.NewColumns([]string{"obs_state"}, []feature.Range{{Low: low, High: high}}, feature.ColumnsOptions{})
	check(t, err)
	ways := map[string]func(*evaluate.Public) evaluate.Estimator{
		"1 linear-state": func(public *evaluate.Public) evaluate.Estimator {
			public.Features = number
			return evaluate.DPFQE{}
		},
		"6 dp-dr, baseline linear-state": func(public *evaluate.Public) evaluate.Estimator {
			public.Features = number
			return evaluate.DPDR{Baseline: "model"}
		},
		"7 dp-dr, one number": func(*evaluate.Public) evaluate.Estimator { return evaluate.DPDR{} },
		"5 dp-pdis":           func(*evaluate.Public) evaluate.Estimator { return evaluate.DPPDIS{} },
	}
	if p.States == 0 {
		return ways
	}
	states, err := feature.NewTabular(p.States, "obs_state")
	check(t, err)
	ways["2 linear"] = func(public *evaluate.Public) evaluate.Estimator {
		public.Features = number
		return evaluate.DPFQE{Form: "linear"}
	}
	ways["3 linear-state, one a state"] = func(public *evaluate.Public) evaluate.Estimator {
		public.Features = states
		return evaluate.DPFQE{Form: "linear-state"}
	}
	ways["4 table"] = func(public *evaluate.Public) evaluate.Estimator {
		public.Features = states
		return evaluate.DPFQE{}
	}
	return ways
}

// TestLinearModelTable prints root mean square errors, and coverage where the interval is one, of
// linear models of values beside the table, importance sampling and the best constant.
func TestLinearModelTable(t *testing.T) {
	asked := regexp.MustCompile(*linearOnly)
	for _, p := range append(truthbench.Problems(), truthbench.FarGaussian(10), truthbench.FarGaussian(20)) {
		if !asked.MatchString(p.Name) {
			continue
		}
		ways := linearWays(t, p)
		for _, n := range []int{2000, 20000} {
			logs := *linearDraws
			if n == 20000 {
				logs = *linearFew
			}
			constant := p.Public(n, 1, dp.ReplaceOne).Returns()
			best := math.Min(math.Abs(p.J-constant.Mid()), math.Min(p.J-constant.Min, constant.Max-p.J))
			var line []string
			for _, name := range []string{"1 linear-state", "2 linear", "3 linear-state, one a state", "4 table", "5 dp-pdis", "6 dp-dr, baseline linear-state", "7 dp-dr, one number"} {
				if way := ways[name]; way != nil && logs > 0 && regexp.MustCompile(*linearWay).MatchString(name[2:]) {
					line = append(line, name[2:]+" "+linearRow(t, p, way, n, logs))
				}
			}
			fmt.Printf("%s | %d | %s | best constant %.2g\n", p.Name, n, strings.Join(line, " | "), best)
		}
	}
}

// linearRow is that of one way at every budget: error, deviation that is stated, logs whose
// interval holds the value.
func linearRow(t *testing.T, p truthbench.Problem, way func(*evaluate.Public) evaluate.Estimator, n, logs int) string {
	var out []string
	for _, epsilon := range linearBudgets {
		public := p.Public(n, epsilon, dp.ReplaceOne)
		plan, err := way(&public).Plan(public)
		check(t, err)
		src := noise.NewSeeded(uint64(n))
		square, stated, held := 0.0, 0.0, 0
		for seed := range logs {
			e := answer(t, plan, p.Draw(n, uint64(seed)), src)
			square += (e.Value - p.J) * (e.Value - p.J) / float64(logs)
			stated += math.Hypot(e.StdSampling, e.StdPrivacy) / float64(logs)
			if e.Interval[0] <= p.J && p.J <= e.Interval[1] {
				held++
			}
		}
		out = append(out, fmt.Sprintf("%.2g (%.2g, %d/%d)", math.Sqrt(square), stated, held, logs))
	}
	return strings.Join(out, " / ")
}
