//go:build slow && measure

package survival

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
)

// noises are the laws of both families at an epsilon and delta 1e-5.
func noises(t *testing.T, epsilon float64, adjacency dp.Adjacency) []law {
	t.Helper()
	mu, err := account.GaussianMu(dp.Budget{Epsilon: epsilon, Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	l1, l2 := 1.0, 1.0
	if adjacency == dp.ReplaceOne {
		l1, l2 = 2, math.Sqrt2
	}
	return []law{laplaceLaw(t, l1/epsilon), gaussianLaw(t, l2/mu.Lower), rootsLaw(t, visits, l2/mu.Lower)}
}

// TestSurvivalTable prints coverage and widths of the trials, and judges nothing.
func TestSurvivalTable(t *testing.T) {
	const logs = 500
	fmt.Println("| trial | persons | epsilon | adjacency | noise | difference of means held % | above, below | band of a curve held % | band of the difference held % | shown % | width | of the width without noise | width of a band |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	var all [3]int
	total := 0
	for i, x := range trials() {
		for j, n := range []int{300, 2000, 20000} {
			for k, epsilon := range []float64{0.5, 1, 5} {
				for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
					for m, l := range noises(t, epsilon, adjacency) {
						s := x.look(n, logs, l, uint64(10000*i+1000*j+100*k+10*int(adjacency)+m))
						percent := func(held int) string { return fmt.Sprintf("%.1f", 100*float64(held)/logs) }
						fmt.Printf("| %s | %d | %g | %v | %s | %s | %d, %d | %s | %s | %.0f | %.3g | %.2f | %.3f |\n", x.name, n, epsilon, adjacency, l.name,
							percent(s.mean), s.tooHigh, s.tooLow, percent(s.band), percent(s.diff), 100*float64(s.shown)/logs, s.width, s.width/s.bare, s.bandWidth)
						all[0], all[1], all[2], total = all[0]+s.mean, all[1]+s.band, all[2]+s.diff, total+logs
					}
				}
			}
		}
	}
	fmt.Printf("pooled over %d logs: %.2f%%, %.2f%%, %.2f%%\n", total, 100*float64(all[0])/float64(total), 100*float64(all[1])/float64(total), 100*float64(all[2])/float64(total))
}

// TestLungTable prints the root mean square difference of the private curve of the trial NCCTG
// (228 persons) from the one without privacy, over the ends of the bins, of 500 runs.
func TestLungTable(t *testing.T) {
	for _, c := range []struct{ epsilon, width float64 }{{1, 90}, {1, 30}, {10, 90}, {10, 30}} {
		bins := int(math.Floor(1022 / c.width))
		q := flatQuestion(1, bins, 1, 0, true)
		for j := range q.Ends {
			q.Ends[j] *= c.width
		}
		exact := make([]float64, q.Cells())
		for _, row := range table(t, "testdata/lung.csv") {
			bin, _ := slices.BinarySearch(q.Ends, number(t, row[0]))
			if bin == len(q.Ends) {
				exact[q.End(0, 0)]++
				continue
			}
			exact[q.Exit(0, 0, bin, int(number(t, row[1]))-1)]++
		}
		truth := q.Estimate(exact).Arms[0].Curve.Values
		l := laplaceLaw(t, 2/c.epsilon)
		q.SD = l.sd
		src := noise.NewSeeded(1)
		sum, counted, width := 0.0, 0, 0.0
		const runs = 500
		for range runs {
			cells := slices.Clone(exact)
			for k := range cells {
				cells[k] += l.sample(src)
			}
			b := q.Estimate(cells).Arms[0].Curve
			for j := range bins {
				v := (b.Lower[j] + b.Upper[j]) / 2 // where no value is given, the middle of its limits
				if j < len(b.Values) {
					v = b.Values[j]
				}
				width += (b.Upper[j] - b.Lower[j]) / runs / float64(bins)
				sum, counted = sum+(v-truth[min(j, len(truth)-1)])*(v-truth[min(j, len(truth)-1)]), counted+1
			}
		}
		fmt.Printf("epsilon %g, bins of %g days: RMSE %.4f, mean width of the band %.3f\n", c.epsilon, c.width, math.Sqrt(sum/float64(counted)), width)
	}
}
