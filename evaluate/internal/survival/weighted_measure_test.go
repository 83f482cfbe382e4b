//go:build slow && measure

package survival

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
)

// TestPolicyTable prints how often intervals and bands of survival under policies hold the truth, of
// 500 logs a cell, under replace_one with delta 1e-5, beside the width without noise.
func TestPolicyTable(t *testing.T) {
	const logs = 500
	fmt.Println("| study | persons | epsilon | noise | held %: mean, band | width | of the width without noise |\n|---|---|---|---|---|---|---|")
	held, least, total := [2]int{}, [2]int{logs, logs}, 0
	row := func(name string, x drawn, form Form, tables int, curve []float64, mean float64, seed uint64) {
		for j, n := range []int{300, 2000, 20000} {
			_, _, bare := heldOf(x, form, curve, mean, n, logs, law{sample: func(*noise.Source) float64 { return 0 }}, seed)
			for k, epsilon := range []float64{0.5, 1, 5} {
				mu, err := account.GaussianMu(dp.Budget{Epsilon: epsilon, Delta: 1e-5})
				if err != nil {
					t.Fatal(err)
				}
				most := float64(tables)
				for m, l := range []law{laplaceLaw(t, 2*most/epsilon), gaussianLaw(t, math.Sqrt(2*most)/mu.Lower), rootsLaw(t, visits, math.Sqrt(2*most)/mu.Lower)} {
					means, bands, width := heldOf(x, form, curve, mean, n, logs, l, seed+uint64(100*j+10*k+m))
					fmt.Printf("| %s | %d | %g | %s | %.1f, %.1f | %.3g | %.2f |\n", name, n, epsilon, l.name, 100*float64(means)/logs, 100*float64(bands)/logs, width, width/bare)
					held[0], held[1], total = held[0]+means, held[1]+bands, total+logs
					least[0], least[1] = min(least[0], means), min(least[1], bands)
				}
			}
		}
	}
	for i, s := range studies() {
		curve, mean := s.wanted()
		row(s.name, s, Curves, s.tables, curve, mean, uint64(1000*i))
	}
	x := steps{pi: 0.52, event: [2]float64{0.08, 0.03}, drop: 0.03}
	curve, mean := x.truth()
	row("a decision at each visit", x, Curves, 1, curve, mean, 7000)
	row("a decision at each visit, limits", x, Lived, 1, curve, mean, 8000)
	kinds, truth := twoByTwo([2]float64{0.5, 0}, [][2]float64{{1, 1}}, hazard, alike)
	s := newStudy("no support, limits", 1, kinds, truth)
	curve, mean = s.wanted()
	row(s.name, s, Lived, 1, curve, mean, 9000)
	fmt.Printf("pooled over %d logs: %.2f%%, %.2f%%; least %.1f%%, %.1f%%\n", total, 100*float64(held[0])/float64(total), 100*float64(held[1])/float64(total), 100*float64(least[0])/logs, 100*float64(least[1])/logs)
}
