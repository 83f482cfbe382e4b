//go:build slow && measure

package evaluate_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/sim/chain"
)

// tableDatasets is how many datasets a cell of the table averages over.
const tableDatasets = 50

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
		{name: "dp-is, auto clip", estimator: evaluate.DPIS{Clip: "auto"}, private: true},
		{name: "dp-pdis, auto clip", estimator: evaluate.DPPDIS{Clip: "auto"}, private: true},
		{name: "dp-wis", estimator: evaluate.DPWIS{}, private: true},
		{name: "dp-wis, auto clip", estimator: evaluate.DPWIS{Clip: "auto"}, private: true},
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
// interval and its mean width, for each method, epsilon and number of persons. It
// wants what the table is for: from 1000 persons at epsilon 1 on, the doubly robust
// estimate errs by less than three quarters of what dp-is and dp-wis do.
func TestTableOfScalarEstimators(t *testing.T) {
	truth := chainWorth(0.6)
	for _, persons := range []int64{1000, 10000, 100000} {
		for _, epsilon := range []float64{0.1, 1} {
			rows := tableRows()
			src := noise.NewSeeded(uint64(persons))
			for seed := range tableDatasets {
				d := chainData(t, int(persons), uint64(1000+seed))
				for _, r := range rows {
					if !r.private && epsilon != 0.1 {
						continue
					}
					p := chainOffPolicy(t, persons, epsilon)
					if !r.private {
						p.Privacy = nil
					}
					e := run(t, r.estimator, p, d, src).Estimate
					r.err += math.Abs(e.Value-truth) / tableDatasets
					r.width += (e.Interval[1] - e.Interval[0]) / tableDatasets
					if e.Interval[0] <= truth && truth <= e.Interval[1] {
						r.covered++
					}
				}
			}
			best, dr := math.Inf(1), 0.0
			for _, r := range rows {
				if !r.private && epsilon != 0.1 {
					continue
				}
				t.Logf("persons %6d, epsilon %3g  %-20s  error %.4f  covered %3.0f%%  width %.4f",
					persons, epsilon, r.name, r.err, 100*float64(r.covered)/tableDatasets, r.width)
				switch r.name {
				case "dp-dr":
					dr = r.err
				case "dp-is", "dp-wis", "dp-is, auto clip", "dp-wis, auto clip":
					best = min(best, r.err)
				}
			}
			if float64(persons)*epsilon >= 1000 && dr > 0.75*best {
				t.Errorf("persons %d, epsilon %v: dp-dr errs by %.4f; the best of dp-is and dp-wis by %.4f", persons, epsilon, dr, best)
			}
		}
	}
}
