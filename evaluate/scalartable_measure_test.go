//go:build slow && measure

package evaluate_test

import (
	"flag"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
)

var (
	tableDatasets = flag.Int("table-datasets", 50, "datasets that a cell of the table averages over")
	tablePersons  = flag.String("table-persons", "1000,10000,100000", "numbers of persons")
)

// row is one line of the table: sums over datasets.
type row struct {
	name      string
	estimator evaluate.Estimator
	private   bool
	err       float64
	width     float64
	covered   int
}

func tableRows() []*row {
	exact := chain.Values(0.6, 0.99)
	return []*row{
		{name: "constant", estimator: evaluate.Constant{}, private: true},
		{name: "dp-is", estimator: evaluate.DPIS{}, private: true},
		{name: "dp-pdis", estimator: evaluate.DPPDIS{}, private: true},
		{name: "dp-wis", estimator: evaluate.DPWIS{}, private: true},
		{name: "dp-dr", estimator: evaluate.DPDR{}, private: true},
		{name: "dp-dr, one number", estimator: evaluate.DPDR{Baseline: "value"}, private: true},
		{name: "dp-dr, public values", estimator: evaluate.DPDR{StateValues: exact}, private: true},
		{name: "is", estimator: evaluate.IS{}},
		{name: "wis", estimator: evaluate.WIS{}},
		{name: "dr", estimator: evaluate.DR{}},
	}
}

// TestTableOfScalarEstimators prints, for the chain off-policy (target .6,
// behaviour .5, delta 1e-6, ReplaceOne), the mean error, the coverage of the
// interval and its mean width, for each method, epsilon and number of persons. It judges
// nothing.
func TestTableOfScalarEstimators(t *testing.T) {
	truth := chainWorth(0.6)
	for _, text := range strings.Split(*tablePersons, ",") {
		persons, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{0.1, 1} {
			rows, n := tableRows(), float64(*tableDatasets)
			src := noise.NewSeeded(uint64(persons))
			for seed := range *tableDatasets {
				d := chainData(t, int(persons), uint64(1000+seed))
				for _, r := range rows {
					if !r.private && epsilon != 0.1 {
						continue
					}
					p := chainOffPolicy(t, persons, epsilon)
					if !r.private {
						p.Privacy = nil
					}
					e := run(t, r.estimator, p, d, src).Answers[0].Estimate
					r.err += math.Abs(e.Value-truth) / n
					r.width += (e.Interval[1] - e.Interval[0]) / n
					if e.Interval[0] <= truth && truth <= e.Interval[1] {
						r.covered++
					}
				}
			}
			for _, r := range rows {
				if r.private || epsilon == 0.1 {
					t.Logf("persons %6d, epsilon %3g  %-20s  error %.4f  covered %3.0f%%  width %.4f",
						persons, epsilon, r.name, r.err, 100*float64(r.covered)/n, r.width)
				}
			}
		}
	}
}
