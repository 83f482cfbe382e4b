//go:build slow

package evaluate

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

var estimatorTrials = flag.Int("estimator-trials", 1, "trials of each cell of the table of estimators")

var estimatorOnly = flag.String("estimator-only", "", "only rows of the table of estimators whose name begins so; comparisons are then left out")

// cell is one setting of the table of estimators.
type cell struct {
	persons int
	epsilon float64
	limit   float64 // of dp-refine
}

// contender is a row of the table; nil privacy makes it a reference.
type contender struct {
	name      string
	estimator Estimator
	private   bool
}

func contenders() []contender {
	all := []contender{
		{"LSTD, no privacy", LSTD{}, false},
		{"Monte Carlo (LSW), no privacy", LSW{}, false},
		{"DP-LSW, constants of the paper", DPLSW{Constants: "balle16"}, true},
		{"DP-LSL, constants of the paper", DPLSL{Constants: "balle16"}, true},
		{"GPOPE, one person a step", GPOPE{Batch: 1, Sampling: "uniform"}, true},
		{"DP-LSW, exact constants", DPLSW{}, true},
		{"DP-LSL, exact constants", DPLSL{}, true},
		{"GPOPE, mini-batch", GPOPE{}, true},
		{"dp-refine", DPRefine{}, true},
		{"auto", Auto{}, true},
	}
	return slices.DeleteFunc(all, func(c contender) bool { return !strings.HasPrefix(c.name, *estimatorOnly) })
}

// tablePublic are the public facts of the chain: uniform start, returns in
// [0, 1], delta 1e-5 also where that is not below 1/persons.
func tablePublic(t *testing.T, c cell, private bool) Public {
	t.Helper()
	tabular, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	p := Public{
		Persons: int64(c.persons), Gamma: 0.99, Horizon: 100000,
		Reward: Range{Min: 0, Max: 1}, Return: &Range{Min: 0, Max: 1},
		Features: tabular, Target: policy.Logged{},
	}
	if private {
		p.Privacy = &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: c.epsilon, Delta: 1e-5}, LargeDelta: true}
	}
	return p
}

// TestEstimatorTable prints the RMSE over the chain's states of every central
// estimator, in one run on the same data, and holds dp-refine against its limits
// and against the papers' methods. docs/results/estimators.md has 20 trials:
//
//	go test -tags slow ./evaluate -run EstimatorTable -v -timeout 60m -args -estimator-trials 20
func TestEstimatorTable(t *testing.T) {
	truth := chain.Values(0.5, 0.99)
	cells := []cell{{1_000, 1, 0.04}, {10_000, 0.1, 0.03}, {100_000, 0.1, 0.0025}, {300_000, 1, 0.0003}}
	rows := contenders()
	mean, square := make([][]float64, len(rows)), make([][]float64, len(rows))
	for i := range rows {
		mean[i], square[i] = make([]float64, len(cells)), make([]float64, len(cells))
	}
	spent := make([]time.Duration, len(rows))
	for k, c := range cells {
		for trial := range *estimatorTrials {
			d, err := chain.Simulate(chain.Options{Episodes: c.persons, Seed: uint64(1000*k + trial + 1)})
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range rows {
				start := time.Now()
				r := perform(t, row.estimator, tablePublic(t, c, row.private), d, noise.NewSeeded(uint64(trial+1)))
				spent[i] += time.Since(start)
				e := value.RMSE(functionOf(r), truth)
				mean[i][k] += e / float64(*estimatorTrials)
				square[i][k] += e * e / float64(*estimatorTrials)
			}
		}
	}
	printEstimators(t, cells, rows, mean, square, spent)
	if *estimatorOnly == "" {
		checkEstimators(t, cells, rows, mean)
	}
}

// functionOf is the value function of a release; a constant's is flat.
func functionOf(r *Release) []float64 {
	if r.Values != nil {
		return r.Values
	}
	flat := make([]float64, chain.States)
	for i := range flat {
		flat[i] = r.Answers[0].Estimate.Value
	}
	return flat
}

func printEstimators(t *testing.T, cells []cell, rows []contender, mean, square [][]float64, spent []time.Duration) {
	var b strings.Builder
	fmt.Fprintf(&b, "RMSE, mean of %d trials (standard error); delta 1e-5, replace-one\n| method |", *estimatorTrials)
	for _, c := range cells {
		fmt.Fprintf(&b, " m %d, eps %g |", c.persons, c.epsilon)
	}
	fmt.Fprintf(&b, " time a run |\n| best constant |")
	for range cells {
		fmt.Fprintf(&b, " %.3f |", bestConstant())
	}
	fmt.Fprintln(&b, " |")
	n := float64(*estimatorTrials)
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |", row.name)
		for k := range cells {
			se := math.Sqrt(max(square[i][k]-mean[i][k]*mean[i][k], 0) / max(n-1, 1))
			fmt.Fprintf(&b, " %.3g (%.1g) |", mean[i][k], se)
		}
		fmt.Fprintf(&b, " %v |\n", (spent[i] / time.Duration(*estimatorTrials*len(cells))).Round(time.Millisecond))
	}
	t.Log(b.String())
}

func checkEstimators(t *testing.T, cells []cell, rows []contender, mean [][]float64) {
	of := func(k int, names ...string) float64 {
		least := math.Inf(1)
		for i, row := range rows {
			for _, n := range names {
				if strings.HasPrefix(row.name, n) {
					least = min(least, mean[i][k])
				}
			}
		}
		return least
	}
	for k, c := range cells {
		ours := of(k, "dp-refine")
		published := of(k, "DP-LSW, constants of", "DP-LSL, constants of", "GPOPE, one")
		exact := min(of(k, "DP-LSW, exact", "DP-LSL, exact", "GPOPE, mini"), published)
		t.Logf("m %d, eps %g: dp-refine is %.1f times below the best published method, %.1f times below the best on exact calibration", c.persons, c.epsilon, published/ours, exact/ours)
		if ours > c.limit {
			t.Errorf("m %d, eps %g: dp-refine has RMSE %.4g; want at most %g", c.persons, c.epsilon, ours, c.limit)
		}
		if ours > bestConstant() || of(k, "auto") > bestConstant() {
			t.Errorf("m %d, eps %g: worse than the best constant", c.persons, c.epsilon)
		}
		if c.persons >= 10_000 && (published < 10*ours || exact < 3*ours) {
			t.Errorf("m %d, eps %g: the best published method has %.4g, the best on exact calibration %.4g; want 10 and 3 times dp-refine's %.4g", c.persons, c.epsilon, published, exact, ours)
		}
	}
}
